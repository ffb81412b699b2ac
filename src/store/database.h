// SPDX-License-Identifier: Apache-2.0

/// \file
/// The open file: ours alone by a lock, one connection that writes, as many that read as are needed
/// at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "process/descriptor.h"
#include "store/checkpoints.h"
#include "store/connection.h"
#include "store/failure.h"

namespace almanac::store {

/// Locks the store for writing until the descriptor is closed. The lock is a separate file, because
/// closing any descriptor of the database would drop SQLite's locks. Throws.
process::Descriptor lock(const std::string& path);

/// Looks for damage of the structure; thoroughly, whether indices and tables agree, too. Throws.
enum class Check : std::uint8_t { quick, thorough };
void check(Connection& connection, Check how = Check::quick);

class Database {
 public:
  /// Opens or makes it, and looks for damage. Throws (failure.h).
  explicit Database(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// All that `work` writes, or nothing.
  Result<void> write(const std::function<void(Connection&)>& work);
  /// Returns what `work` reads. Any thread; does not wait for a writer.
  template <typename Work>
  auto read(Work&& work) {
    return guarded(path_, [&] {
      Reader reader(*this);
      return work(reader.connection());
    });
  }
  const std::string& path() const { return path_; }
  const std::string& copy_of_before() const { return copy_of_before_; }

 private:
  /// A connection, for as long as a thread reads.
  class Reader {
   public:
    explicit Reader(Database& database) : database_(database), connection_(database.take()) {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { database_.give_back(std::move(connection_)); }
    Connection& connection() { return *connection_; }

   private:
    Database& database_;
    std::unique_ptr<Connection> connection_;
  };
  /// Overwrites a change in the log that was refused at the last moment, when everything but its
  /// fsync was done: the next process to open the file would otherwise apply it.
  void overwrite();
  std::unique_ptr<Connection> take();
  void give_back(std::unique_ptr<Connection> connection);

  std::string path_;
  std::string copy_of_before_;  // "" if none was needed
  process::Descriptor lock_;    // before all connections, so that it goes after them
  std::mutex writer_mutex_;
  Checkpoints checkpoints_;  // likewise
  Connection writer_;
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace almanac::store
