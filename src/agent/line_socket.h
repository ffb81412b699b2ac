// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lines over TCP, between the daemon and an agent. A peer that accepts no data for two seconds
/// counts as gone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "process/descriptor.h"
#include "slurm/lines.h"

namespace almanac::agent {

/// Fails with usage unless it is "HOST:PORT", "[::1]:PORT".
Result<void> check_address(const std::string& address);
/// Such an address. Waits at most `patience`.
Result<process::Descriptor> dial(const std::string& address, Duration patience);
/// Same, for listening; port 0 for any.
Result<process::Descriptor> listen_at(const std::string& address);
/// The port of a socket that listens.
int port_of(const process::Descriptor& socket);

class LineSocket {
 public:
  LineSocket(process::Descriptor socket, std::size_t longest);

  int get() const { return socket_.get(); }
  /// Receives available data; returns false if the peer has hung up.
  bool take();
  /// Returns the next complete line, valid until the next call; a line that is too long is reported
  /// as such.
  std::optional<slurm::Lines::Line> next() { return lines_.next(); }
  /// Sends a line with its newline; returns false if the peer is gone.
  bool send(std::string_view line);
  /// Sets the maximum length of lines. Requires that no received data is unread.
  void allow(std::size_t longest) { lines_ = slurm::Lines(longest); }

 private:
  process::Descriptor socket_;
  slurm::Lines lines_;
};

}  // namespace almanac::agent
