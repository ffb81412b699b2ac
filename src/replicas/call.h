// SPDX-License-Identifier: Apache-2.0

/// \file
/// One try at a request: asks a replica and hands its answer over piece by piece.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.h"

namespace almanac::replicas {

/// What is passed on of a request.
struct Asked {
  std::string method{};
  std::string target{};  ///< Path and query, as they came.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
};

/// Asks in a thread of its own from the beginning on. One other thread uses it.
class Call {
 public:
  struct Head {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers{};
  };

  Call(Asked asked, int port, Duration silence);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Leaves the replica, whether it has answered wholly or not.
  ~Call();

  /// Waits for the head of the answer and its first piece, or its end. Nothing = the replica failed
  /// before.
  std::optional<Head> begun();
  /// The next piece; nothing = there is no more.
  std::optional<std::string> next();
  /// Whether the answer came wholly; once next() gave nothing.
  bool is_whole() const;

 private:
  void ask(const Asked& asked, int port, Duration silence);

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::optional<Head> head_;
  std::deque<std::string> pieces_;
  bool over_ = false;
  bool whole_ = false;
  bool left_ = false;
  std::thread thread_;
};

}  // namespace almanac::replicas
