// SPDX-License-Identifier: Apache-2.0

/// \file
/// The connection of a client of a service: bounded reads, writes with a limit of time, and whether
/// the client is still there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include <sys/types.h>

#include "base/time.h"

namespace almanac::replicas {

/// Bytes of requests that a service holds in memory, over all its clients. Thread-safe.
class Held {
 public:
  explicit Held(std::size_t most) : most_(most) {}
  /// Adds `bytes`; false = they are too many, and were not added.
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
    Duration read{};                ///< Between two pieces of a request.
    Duration request{};             ///< From the first piece of a request to its last.
    Duration write{};               ///< Until the client takes more of an answer.
    std::size_t request_bytes = 0;  ///< Head and body of one request.
  };
  /// Why a request was not read to its end.
  enum class Refusal { none, too_large, no_room };

  Client(int socket, Held& held, const Limits& limits);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Closes the connection. Where the client may still be sending, reads on for a moment first: a
  /// connection that is closed with bytes unread is reset, and the client never sees its answer.
  ~Client();

  /// Waits until the client sends something; false = it did not within `patience`, or left.
  bool await(Duration patience) const;
  /// The next bytes belong to another request.
  void begin_request();
  /// As read(2); -1 = error, too late or refused.
  ssize_t read(char* to, std::size_t size);
  /// As write(2), of all bytes; -1 = error or too late.
  ssize_t write(const char* from, std::size_t size);
  bool is_readable() const;
  bool is_writable() const;
  /// Whether the client closed its side. One that only shuts down its writing half counts as left
  /// too, as in nginx: no HTTP client in use does that.
  bool has_left() const;

  /// Says that the rest of the request is not read: the connection ends with the answer.
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
