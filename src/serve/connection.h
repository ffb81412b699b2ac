// SPDX-License-Identifier: Apache-2.0

/// \file
/// One client's connection: collects bytes until a request is complete, sends bytes until an answer
/// is delivered.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "process/descriptor.h"
#include "serve/frame.h"
#include "serve/limits.h"
#include "serve/message.h"
#include "serve/tls.h"

namespace almanac::serve {

class Connection {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  enum class Phase {
    idle,       ///< Between requests.
    receiving,  ///< A request has begun.
    answering,  ///< A worker has the request.
    sending,    ///< An answer goes out.
    /// Everything is sent; further input is dropped until the client has read it.
    closing,
    closed,
  };

  /// `tls`: TLS for the socket; null for none.
  Connection(process::Descriptor socket, const Peer& peer, const Limits& limits, Instant now,
             std::unique_ptr<TlsSession> tls);

  /// Processes input as far as possible without waiting; so does send() for output.
  void receive(Instant now);
  void send(Instant now);
  /// A request is whole: its bytes. The connection is then answering.
  std::string take_request(std::size_t& head_size);
  bool has_request() const { return phase_ == Phase::receiving && is_whole_; }
  void answer(std::string bytes, bool closes, Instant now);
  /// The deadline has passed.
  void give_up(Instant now);
  /// The client has gone.
  void drop() { phase_ = Phase::closed; }

  int socket() const { return socket_.get(); }
  const Peer& peer() const { return peer_; }
  Phase phase() const { return phase_; }
  Instant deadline() const { return deadline_; }
  /// Whether it continues when the socket becomes writable, in any phase.
  bool wants_to_write() const {
    return phase_ == Phase::sending || (tls_ && tls_->wants_to_write());
  }

 private:
  ssize_t take(char* bytes, std::size_t size);
  ssize_t give(const char* bytes, std::size_t size);
  void look(Instant now);
  void refuse(int status, const std::string& message, Instant now);
  void enter(Phase phase, Duration patience, Instant now);

  process::Descriptor socket_;
  std::unique_ptr<TlsSession> tls_;  // before the socket in going
  Peer peer_;
  const Limits& limits_;
  Phase phase_ = Phase::idle;
  Instant deadline_;
  Frame frame_;
  bool is_whole_ = false;
  std::string in_;
  std::string out_;
  std::size_t sent_ = 0;
  std::size_t dropped_ = 0;  // while closing
  bool closes_ = false;
};

}  // namespace almanac::serve
