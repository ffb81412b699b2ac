// SPDX-License-Identifier: Apache-2.0
#include "store/connection.h"

namespace almanac::store {
namespace {

/// A writer or a reader waits so long for an operator with an SQLite shell.
constexpr int kPatienceMs = 1000;

}  // namespace

Connection::Connection(const std::string& path, Access access)
    : database_(path,
                (access == Access::read ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE) |
                    SQLite::OPEN_NOMUTEX,
                kPatienceMs) {
  // A damaged file must not make us run what it says, nor read beyond a page.
  database_.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
  // What is dropped may be a password: it is overwritten.
  database_.exec("PRAGMA secure_delete = ON");
}

SQLite::Statement& Connection::statement(const std::string& sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  return statements_.emplace(sql, SQLite::Statement(database_, sql)).first->second;
}

std::int64_t Connection::number_of(const std::string& pragma) {
  return database_.execAndGet("PRAGMA " + pragma).getInt64();
}

}  // namespace almanac::store
