// SPDX-License-Identifier: Apache-2.0

/// \file
/// One try at a request: asks a replica and hands its answer over piece by piece.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
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

  /// How the wait for the first bytes of an answer ended.
  enum class Begin : std::uint8_t { answered, failed, client_left, late };
  /// Whether the client that asked has gone. Asked every 100 ms while nothing comes.
  using Gone = std::function<bool()>;

  /// `silence` is the longest wait between two pieces of an answer.
  Call(std::shared_ptr<const Asked> asked, int port, Duration silence);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Leaves the replica at once, whether it has answered wholly or not.
  ~Call();

  /// Waits for the head of the answer and its first piece, or its end, at most until `deadline`.
  Begin begin(std::chrono::steady_clock::time_point deadline, const Gone& has_client_left);
  /// The head of an answer that began.
  const Head& head() const { return *head_; }
  /// Waits for the next piece. Nothing = there is no more, or the client left.
  std::optional<std::string> next(const Gone& has_client_left);
  /// Whether the answer came wholly; once next() gave nothing.
  bool is_whole() const;

 private:
  /// Talks to the replica, over a connection that another thread can shut.
  struct Line;
  void ask(const Asked& asked);

  const std::unique_ptr<Line> line_;
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
