// SPDX-License-Identifier: Apache-2.0

/// \file
/// What goes over TCP, encrypted (TLS 1.2 or later, by OpenSSL): the service's certificate, and one
/// session a connection.
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
  /// Of a certificate, with those that vouch for it behind it, and its key, both PEM. Fails with
  /// invalid where they do not belong together, or others may read the key.
  static Result<Tls> of(const std::string& certificate, const std::string& key);
  Tls(Tls&&) noexcept;
  Tls& operator=(Tls&&) noexcept;
  ~Tls();

  /// Of a socket that does not wait, and outlives the session; null = no memory. Takes the files
  /// anew where they have changed since, as when the certificate was renewed; where they cannot be
  /// taken, a warning says so and the old certificate stays.
  std::unique_ptr<TlsSession> begin(int socket);

 private:
  struct State;
  explicit Tls(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// As recv(2) and send(2) of a socket that does not wait: bytes; 0 = the other end is gone; -1 with
/// errno EAGAIN = not now, else broken. Raises SIGPIPE as write(2) does.
class TlsSession {
 public:
  struct State;
  explicit TlsSession(std::unique_ptr<State> state);
  ~TlsSession();

  ssize_t receive(char* bytes, std::size_t size);
  ssize_t send(const char* bytes, std::size_t size);
  /// Tells the other end that nothing more comes.
  void end();
  /// Whether it goes on when the socket can be written, not when there is something to read.
  bool wants_to_write() const { return wants_to_write_; }

 private:
  ssize_t outcome(int result);
  std::unique_ptr<State> state_;
  bool wants_to_write_ = false;
};

}  // namespace almanac::serve
