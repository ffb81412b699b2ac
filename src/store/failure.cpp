// SPDX-License-Identifier: Apache-2.0
#include "store/failure.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "text/utf8.h"

namespace almanac::store {

Error damaged(const std::string& what) {
  return {Code::corrupt,
          fmt::format("the store is damaged: {}", text::mend_utf8(what)),
          {},
          "restore a copy, or rescue what can be read: sqlite3 OLD .recover | sqlite3 NEW"};
}

Error error_of(const SQLite::Exception& thrown) {
  const auto error = [&](Code code, std::string message, std::string hint) {
    return Error{code, std::move(message), {}, std::move(hint)};
  };
  switch (thrown.getErrorCode()) {
    case SQLITE_FULL:
      return error(Code::unavailable, "the disk is full: nothing was written",
                   "free some space; no restart is needed");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return damaged(thrown.what());
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(Code::unavailable, "another program keeps the store locked",
                   "close the SQLite shell that has it open");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return error(Code::unavailable, fmt::format("the store cannot be written: {}", thrown.what()),
                   "check the permissions of the file and its folder");
    case SQLITE_IOERR:
      return error(Code::unavailable,
                   fmt::format("disk error: {}: nothing was written", thrown.what()),
                   "the disk quota is used up, or the disk is failing: see the system log");
    case SQLITE_NOMEM:
      return error(Code::unavailable, "out of memory for the store", "");
    case SQLITE_CONSTRAINT:
      return error(Code::invalid, fmt::format("the store rejected the change: {}", thrown.what()),
                   "");
    default:
      // No such table, no such column, a value of another type: what we prepared does not meet it.
      return damaged(thrown.what());
  }
}

}  // namespace almanac::store
