// SPDX-License-Identifier: Apache-2.0

/// \file
/// Moves what was committed from the log into the store's file, and keeps a seal on the file.
///
/// The file changes at checkpoints only. So its seal holds while commits go to the log, which has
/// checksums of its own, and a flipped bit is found after a kill too: unless the kill comes while a
/// checkpoint or its seal is being written.
///
/// Cost: after each 16 MB of log, in a thread of its own, the checkpoint and a digest of the file.
/// A commit waits for the last fsync of a checkpoint at most.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "store/connection.h"
#include "store/seal.h"

namespace almanac::store {

class Checkpoints {
 public:
  /// Verifies the seal and removes it. Throws if the file or its log is damaged.
  explicit Checkpoints(std::string path);
  /// Seals the file if begun; connections to it must be closed by now.
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// Takes checkpoints over from `writer`, whose commits hold `writing`.
  void begin(Connection& writer, std::mutex& writing);
  /// Ends the thread and takes the seal off: the last connection to close writes the file.
  void end();

 private:
  /// Called by SQLite after each commit, with the length of the log in pages.
  void hear_length(int pages);
  void serve(std::mutex& writing);
  /// Takes one checkpoint and seals the file. Returns the length of the log in pages.
  int take(Connection& connection, std::mutex& writing);

  std::string path_;
  Seal seal_;
  bool is_ours_ = false;
  std::mutex mutex_;
  std::condition_variable news_;
  bool is_due_ = true;  // the seal that was taken off comes back first
  bool ends_ = false;
  int length_ = 0;  // of the log when the last checkpoint was taken
  std::thread thread_;
};

}  // namespace almanac::store
