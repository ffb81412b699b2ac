// SPDX-License-Identifier: Apache-2.0

/// \file
/// One attempt at a request: sends it to a replica and passes the answer on piece by piece.
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

/// The parts of a request that are passed on.
struct Asked {
  std::string method{};
  std::string target{};  ///< Path and query, as they came.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
};

/// Sends the request in its own thread, from construction on. One other thread may use it. Headers
/// of one connection (Connection, Host, Content-Length, ...) are not passed on in either direction.
class Call {
 public:
  struct Head {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers{};
  };

  /// How the wait for the first bytes of an answer ended.
  enum class Begin : std::uint8_t { answered, failed, client_left, late };
  /// Whether the client has closed its connection. Called every 100 ms while no piece arrives.
  using Gone = std::function<bool()>;

  /// `silence` is the longest time between two pieces of an answer.
  Call(std::shared_ptr<const Asked> asked, int port, Duration silence);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Closes the connection to the replica, even if its answer is incomplete.
  ~Call();

  /// Waits until the first piece of the answer, or its end, or `deadline`.
  Begin begin(std::chrono::steady_clock::time_point deadline, const Gone& has_client_left);
  /// Returns the head of the answer. Valid only after begin() returned `answered`.
  const Head& head() const { return *head_; }
  /// Waits for the next piece. Returns nothing if there is no more, or if the client left.
  std::optional<std::string> next(const Gone& has_client_left);
  /// Whether the answer is complete. Valid only after next() returned nothing.
  bool is_whole() const;

 private:
  /// The HTTP client of the replica; another thread may stop it.
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
