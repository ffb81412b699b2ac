// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lines over TCP, between the daemon and an agent. A peer that does not take what it is sent for
/// two seconds is taken for gone.
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
/// The same, to be dialled at; port 0 = any.
Result<process::Descriptor> listen_at(const std::string& address);
/// The port of a socket that listens.
int port_of(const process::Descriptor& socket);

class LineSocket {
 public:
  LineSocket(process::Descriptor socket, std::size_t longest);

  int get() const { return socket_.get(); }
  /// Takes what has come; false = the other has hung up.
  bool take();
  /// The next line that is here in whole, valid until the next call; one too long is told as such.
  std::optional<slurm::Lines::Line> next() { return lines_.next(); }
  /// Sends a line with its newline; false = the other is gone.
  bool send(std::string_view line);
  /// From now on lines may be so long. Nothing must have been taken that is not read.
  void allow(std::size_t longest) { lines_ = slurm::Lines(longest); }

 private:
  process::Descriptor socket_;
  slurm::Lines lines_;
};

}  // namespace almanac::agent
