// SPDX-License-Identifier: Apache-2.0

/// \file
/// The sockets that the service listens on, and the peers that connect to them.
#pragma once

#include <string>

#include "base/result.h"
#include "process/descriptor.h"
#include "serve/message.h"

namespace almanac::serve {

/// Listens on a Unix socket that every user of this machine may connect to. Replaces the socket of
/// a dead service; fails with `conflict` if a service answers, and with `usage` if the path is too
/// long.
Result<process::Descriptor> listen_unix(const std::string& path);
/// An address for TCP.
struct Address {
  std::string host = "127.0.0.1";  ///< A number of IPv4 or IPv6: "0.0.0.0" or "::" = every
                                   ///< address of the kind that there is.
  int port = 0;                    ///< 0 for any free port.

  /// Whether only this machine reaches it.
  bool is_here() const { return host.starts_with("127.") || host == "::1"; }
  bool is_v6() const { return host.find(':') != std::string::npos; }
  std::string in_url() const { return is_v6() ? "[" + host + "]" : host; }
};

/// Fails with conflict when the port is taken, usage when the host is no such number.
Result<process::Descriptor> listen_tcp(const Address& at);
/// The port that a socket of ours has.
int port_of(const process::Descriptor& socket);
/// The peer that connected, by the kernel's word as of connect(2).
Peer peer_of(const process::Descriptor& connection);

}  // namespace almanac::serve
