// SPDX-License-Identifier: Apache-2.0
#include "store/checkpoints.h"

#include <utility>

#include <sqlite3.h>
#include <sys/stat.h>

#include "store/failure.h"
#include "store/log_file.h"

namespace almanac::store {
namespace {

/// Pages of log after which a checkpoint is taken. A service that begins after a kill reads so much
/// of it.
constexpr int kPages = 4096;

/// A log that has something: the file alone is not all there is.
bool has_log(const std::string& path) {
  struct stat about {};
  return ::stat((path + "-wal").c_str(), &about) == 0 && about.st_size > 0;
}

}  // namespace

Checkpoints::Checkpoints(std::string path) : path_(std::move(path)), seal_(path_) {
  is_ours_ = seal_.verify();
  check_log(path_);
  seal_.take_off();
}

Checkpoints::~Checkpoints() {
  if (!is_ours_) return;
  try {
    if (!has_log(path_)) seal_.put();
  } catch (const Refused&) {
    // The next to open it reads it without: a full disk is no damage.
  }
}

void Checkpoints::begin(Connection& writer, std::mutex& writing) {
  is_ours_ = true;
  ::sqlite3_wal_hook(
      writer.database().getHandle(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Checkpoints*>(self)->hear_length(pages);
        return SQLITE_OK;
      },
      this);
  thread_ = std::thread([this, &writing] { serve(writing); });
}

void Checkpoints::end() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  news_.notify_one();
  thread_.join();
  try {
    seal_.take_off();
  } catch (const Refused&) {
    // A checkpoint that is complete cuts it off too.
  }
}

void Checkpoints::hear_length(int pages) {
  const std::scoped_lock lock(mutex_);
  // If a long read kept the log from restarting, it continues after the pages of the last
  // checkpoint.
  const int from = pages < length_ ? 0 : length_;
  if (is_due_ || pages < kPages || pages - from < kPages) return;
  is_due_ = true;
  news_.notify_one();
}

void Checkpoints::serve(std::mutex& writing) {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return is_due_ || ends_; });
      if (ends_) return;
      is_due_ = false;
    }
    int length = 0;
    try {
      Connection connection(path_, Connection::Access::write);
      length = take(connection, writing);
    } catch (const Refused&) {
      // The disk is full, or fails: commits hear of it themselves.
    } catch (const SQLite::Exception&) {
    }
    const std::scoped_lock lock(mutex_);
    length_ = length;
  }
}

int Checkpoints::take(Connection& connection, std::mutex& writing) {
  const auto checkpoint = [&] {
    SQLite::Statement statement(connection.database(), "PRAGMA wal_checkpoint(PASSIVE)");
    statement.executeStep();
    return statement.getColumn(1).getInt();
  };
  seal_.take_off();
  checkpoint();  // most of the work, in parallel with commits
  int length = 0;
  {
    const std::scoped_lock lock(writing);
    length = checkpoint();
  }
  seal_.put();
  return length;
}

}  // namespace almanac::store
