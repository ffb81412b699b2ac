// SPDX-License-Identifier: Apache-2.0

/// \file
/// Encryption for TCP (TLS 1.2 or later, by OpenSSL): the service's certificate, and one session
/// per connection.
#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"

namespace almanac::serve {

class TlsSession;

/// Not thread-safe.
class Tls {
 public:
  /// Reads a certificate, followed by its chain, and its key, both PEM. Fails with `invalid` if
  /// they do not match, or if others may read the key.
  static Result<Tls> of(const std::string& certificate, const std::string& key);
  Tls(Tls&&) noexcept;
  Tls& operator=(Tls&&) noexcept;
  ~Tls();

  /// Starts a session on a non-blocking socket, which must outlive it; null if memory is short.
  /// Reloads the files if they have changed, as after a renewal. If they cannot be loaded, logs a
  /// warning and keeps the old certificate.
  std::unique_ptr<TlsSession> begin(int socket);

 private:
  struct State;
  explicit Tls(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Like recv(2) and send(2) on a non-blocking socket: bytes; 0 if the peer has closed; -1 with
/// errno EAGAIN for not now, otherwise an error. Raises SIGPIPE like write(2).
class TlsSession {
 public:
  struct State;
  explicit TlsSession(std::unique_ptr<State> state);
  ~TlsSession();

  ssize_t receive(char* bytes, std::size_t size);
  ssize_t send(const char* bytes, std::size_t size);
  /// Signals to the other end that nothing more comes.
  void end();
  /// Whether it continues when the socket becomes writable, rather than readable.
  bool wants_to_write() const { return wants_to_write_; }

 private:
  ssize_t outcome(int result);
  std::unique_ptr<State> state_;
  bool wants_to_write_ = false;
};

}  // namespace almanac::serve
