// SPDX-License-Identifier: Apache-2.0

/// \file
/// A client's connection to a service: reads with limits, writes with a time limit, and whether the
/// client is still connected.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include <sys/types.h>

#include "base/time.h"

namespace almanac::replicas {

/// Counts the bytes of requests in memory, over all clients of a service. Thread-safe.
class Held {
 public:
  explicit Held(std::size_t most) : most_(most) {}
  /// Adds `bytes`. If the sum would exceed the limit, adds nothing and returns false.
  bool add(std::size_t bytes);
  void remove(std::size_t bytes) { now_ -= bytes; }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> now_ = 0;
};

/// Owns the socket and closes it. One thread uses it.
class Client {
 public:
  struct Limits {
    Duration read{};                ///< Longest time between two pieces of a request.
    Duration request{};             ///< Longest time for a whole request.
    Duration write{};               ///< Longest wait until the client accepts more of an answer.
    std::size_t request_bytes = 0;  ///< Head and body of one request.
  };
  /// Why the rest of a request was not read.
  enum class Refusal { none, too_large, no_room };

  Client(int socket, Held& held, const Limits& limits);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Closes the connection. After a refusal, reads up to 2 s more first: closing a connection with
  /// unread bytes resets it, and the client then never receives the answer.
  ~Client();

  /// Waits until the client sends something. Returns false if it sent nothing within `patience` or
  /// left.
  bool await(Duration patience) const;
  /// Declares that the next bytes begin another request.
  void begin_request();
  /// Like read(2). Returns -1 on an error, if a limit of time has passed, or after a refusal.
  ssize_t read(char* to, std::size_t size);
  /// Like write(2), but writes all bytes. Returns -1 on an error or if a limit of time has passed.
  ssize_t write(const char* from, std::size_t size);
  bool is_readable() const;
  bool is_writable() const;
  /// Whether the client closed its side. A client that shuts down only its writing half counts as
  /// gone too, as in nginx; no HTTP client in use does that.
  bool has_left() const;

  /// Declares that the rest of the request is not read; the connection ends with the answer.
  void refuse() { is_refused_ = true; }
  bool is_refused() const { return is_refused_; }
  Refusal refusal() const { return refusal_; }
  int socket() const { return socket_; }

 private:
  const int socket_;
  Held& held_;
  const Limits limits_;
  std::size_t held_bytes_ = 0;
  std::chrono::steady_clock::time_point until_{};  // of the request that is read
  Refusal refusal_ = Refusal::none;
  bool is_refused_ = false;
};

}  // namespace almanac::replicas
