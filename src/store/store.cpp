// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <cerrno>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>

#include "process/descriptor.h"
#include "store/failure.h"
#include "store/log.h"
#include "store/schema.h"
#include "store/tables.h"

namespace almanac::store {
namespace {

using process::Descriptor;

/// So many jobs are forgotten in one transaction: commits wait for no more.
constexpr std::int64_t kForgottenAtOnce = 500;

[[noreturn]] void refuse_file(const std::string& what) {
  const int error = errno;
  throw Refused{{error == ENOENT ? Code::not_found : Code::unavailable,
                 fmt::format("{}: {}", what, std::strerror(error)),
                 {},
                 error == ENOENT ? "make the folder first" : ""}};
}

/// For us alone: environments have passwords in them.
Descriptor open_own(const std::string& path, const std::string& what) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) refuse_file(what);
  return file;
}

/// Held until the descriptor is closed. A file of its own, since to close any descriptor of the
/// database would take SQLite's locks away.
Descriptor lock(const std::string& path) {
  Descriptor file = open_own(path + ".lock", "cannot write in the folder of the store");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) refuse_file("cannot lock the store");
  throw Refused{{Code::conflict,
                 "another Almanac has this store open",
                 {},
                 fmt::format("stop it first; fuser {}.lock names it", path)}};
}

void check(Connection& connection) {
  const std::string found = connection.database().execAndGet("PRAGMA quick_check(1)").getString();
  if (found != "ok") throw Refused{damaged(found)};
}

}  // namespace

struct Store::Database {
  /// A connection that reads, for as long as somebody needs it.
  class Reader {
   public:
    explicit Reader(Database& database) : database_(database), connection_(database.take()) {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() {
      const std::scoped_lock guard(database_.idle_mutex);
      database_.idle.push_back(std::move(connection_));
    }
    Connection& operator*() { return *connection_; }

   private:
    Database& database_;
    std::unique_ptr<Connection> connection_;
  };

  explicit Database(const std::string& file)
      : path(file),
        held(lock(path)),
        writer((open_own(path, "cannot write the store"), path), Connection::Access::write) {
    SQLite::Database& database = writer.database();
    // A file that we refuse is left as it was found, its log unmerged.
    ::sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    check(writer);
    database.exec("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL");
    bring_up_to_date(writer);
    if (database.execAndGet("PRAGMA journal_mode = WAL").getString() != "wal") {
      throw Refused{{Code::unavailable,
                     "the file system of the store cannot share memory",
                     {},
                     "keep it on a local disk"}};
    }
    ::sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  }

  std::unique_ptr<Connection> take() {
    {
      const std::scoped_lock guard(idle_mutex);
      if (!idle.empty()) {
        auto connection = std::move(idle.back());
        idle.pop_back();
        return connection;
      }
    }
    return std::make_unique<Connection>(path, Connection::Access::read);
  }

  template <typename Work>
  auto write(Work&& work) {
    return guarded(path, [&] {
      const std::scoped_lock guard(writer_mutex);
      SQLite::Transaction all(writer.database(), SQLite::TransactionBehavior::IMMEDIATE);
      if constexpr (std::is_void_v<std::invoke_result_t<Work, Connection&>>) {
        work(writer);
        all.commit();
      } else {
        auto result = work(writer);
        all.commit();
        return result;
      }
    });
  }
  template <typename Work>
  auto read(Work&& work) {
    return guarded(path, [&] {
      Reader reader(*this);
      return work(*reader);
    });
  }

  std::string path;
  Descriptor held;  // the lock; goes last
  std::mutex writer_mutex;
  Connection writer;
  std::mutex idle_mutex;
  std::vector<std::unique_ptr<Connection>> idle;
};

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& path) {
  return guarded(path, [&] { return Store(std::make_unique<Database>(path)); });
}

Result<void> Store::commit(const Batch& batch) {
  return database_->write([&](Connection& connection) {
    for (const Job& job : batch.jobs_) write(connection, job);
    for (const Note& note : batch.notes_) write(connection, note);
    for (const Told& told : batch.told_) write(connection, told);
    for (const Moment& moment : batch.moments_) write(connection, moment);
    for (const auto& value : batch.values_) write(connection, value);
  });
}

Result<JobNumber> Store::last_number() const { return database_->read(read_last_number); }

Result<std::vector<Job>> Store::unfinished() const { return database_->read(read_unfinished); }

Result<std::optional<Job>> Store::job(JobNumber number) const {
  return database_->read([&](Connection& connection) { return read_job(connection, number); });
}

Result<std::vector<Job>> Store::jobs(const Filter& filter) const {
  return database_->read([&](Connection& connection) { return read_jobs(connection, filter); });
}

Result<std::vector<Note>> Store::notes(JobNumber number) const {
  return database_->read([&](Connection& connection) { return read_notes(connection, number); });
}

Result<std::vector<Told>> Store::told(JobNumber number) const {
  return database_->read([&](Connection& connection) { return read_told(connection, number); });
}

Result<std::vector<Moment>> Store::moments(Time since) const {
  return database_->read([&](Connection& connection) { return read_moments(connection, since); });
}

Result<std::optional<std::string>> Store::get(const std::string& key) const {
  return database_->read([&](Connection& connection) { return read_setting(connection, key); });
}

Result<trace::Trace> Store::log(Time since) const {
  return database_->read([&](Connection& connection) { return read_ended(connection, since); })
      .map([&](const std::vector<Job>& jobs) { return log_of(jobs, database_->path); });
}

Result<std::int64_t> Store::forget(Time before) {
  auto sampled =
      database_->write([&](Connection& connection) { drop_moments(connection, before); });
  if (!sampled) return tl::unexpected(std::move(sampled.error()));
  for (std::int64_t all = 0;;) {
    const Result<std::int64_t> dropped = database_->write(
        [&](Connection& connection) { return drop_jobs(connection, before, kForgottenAtOnce); });
    if (!dropped) return dropped;
    all += *dropped;
    if (*dropped < kForgottenAtOnce) return all;
  }
}

}  // namespace almanac::store
