// SPDX-License-Identifier: Apache-2.0
#include "store/database.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>

#include "store/backup.h"
#include "store/schema.h"

namespace almanac::store {
namespace {

using process::Descriptor;

[[noreturn]] void refuse_file(const std::string& what) {
  const int error = errno;
  throw Refused{{error == ENOENT ? Code::not_found : Code::unavailable,
                 fmt::format("{}: {}", what, std::strerror(error)),
                 {},
                 error == ENOENT ? "create the folder first" : ""}};
}

/// Opens a file for its owner alone: environments have passwords in them.
Descriptor open_own(const std::string& path, int how = 0) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | how, 0600));
  if (!file && errno == ELOOP) {
    throw Refused{{Code::invalid, path + " is a symbolic link", {}, "put the file itself there"}};
  }
  if (!file) refuse_file("cannot write " + path);
  return file;
}

/// The path of a file that is there now, SQLite's to open. Called with the lock held.
const std::string& made(const std::string& path) {
  open_own(path);
  return path;
}

/// The copy that is kept of a store before a later version of its tables.
std::string copy_of(const std::string& path, std::int64_t version) {
  return fmt::format("{}.version-{}", path, version);
}

}  // namespace

Descriptor lock(const std::string& path) {
  // Not through a link: two links to one file would be two stores with one lock, or one store with
  // two.
  Descriptor file = open_own(path + ".lock", O_NOFOLLOW);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) refuse_file("cannot lock " + path + ".lock");
  throw Refused{{Code::conflict,
                 "another Almanac has this store open",
                 {},
                 fmt::format("stop it first; fuser {}.lock shows which process", path)}};
}

void check(Connection& connection, Check how) {
  const char* const pragma =
      how == Check::quick ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)";
  const std::string found = connection.database().execAndGet(pragma).getString();
  if (found != "ok") throw Refused{damaged(found)};
}

Database::Database(const std::string& path)
    : path_(path),
      lock_(lock(path)),
      checkpoints_(made(path)),
      writer_(path, Connection::Access::write) {
  SQLite::Database& database = writer_.database();
  const auto merge_log_at_the_end = [&](bool yes) {
    ::sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, yes ? 0 : 1,
                        nullptr);
  };
  // A file that we refuse is left as it was found.
  merge_log_at_the_end(false);
  check(writer_);
  // A burst of writes does not leave a large log behind.
  database.exec(
      "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864");
  const std::int64_t version = version_of(writer_);
  if (version > 0 && !is_up_to_date(writer_)) {
    copy_of_before_ = copy_of(path, version);
    copy(writer_, copy_of_before_, Secrets::of_unfinished);
  }
  bring_up_to_date(writer_);
  if (database.execAndGet("PRAGMA journal_mode = WAL").getString() != "wal") {
    throw Refused{{Code::unavailable,
                   "the file system of the store cannot keep a log next to it",
                   {},
                   "put the store on a local disk"}};
  }
  merge_log_at_the_end(true);
  checkpoints_.begin(writer_, writer_mutex_);
}

Database::~Database() { checkpoints_.end(); }

Result<void> Database::write(const std::function<void(Connection&)>& work) {
  return guarded(path_, [&] {
    const std::scoped_lock guard(writer_mutex_);
    try {
      SQLite::Transaction all(writer_.database(), SQLite::TransactionBehavior::IMMEDIATE);
      work(writer_);
      all.commit();
    } catch (const SQLite::Exception& thrown) {
      if (thrown.getErrorCode() == SQLITE_IOERR) overwrite();
      throw;
    }
  });
}

void Database::overwrite() {
  try {
    writer_.database().exec(fmt::format("PRAGMA user_version = {}", newest_version()));
  } catch (const SQLite::Exception&) {
    // It takes the place all the same if the disk refuses to say that it is there.
  }
}

std::unique_ptr<Connection> Database::take() {
  {
    const std::scoped_lock guard(idle_mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return std::make_unique<Connection>(path_, Connection::Access::read);
}

void Database::give_back(std::unique_ptr<Connection> connection) {
  const std::scoped_lock guard(idle_mutex_);
  idle_.push_back(std::move(connection));
}

}  // namespace almanac::store
