// SPDX-License-Identifier: Apache-2.0

/// \file
/// The sockets that the service listens on, and the peers that connect to them.
#pragma once

#include <string>

#include "base/result.h"
#include "process/descriptor.h"
#include "serve/message.h"

namespace almanac::serve {

/// Listens on a Unix socket that every user of this machine may connect to. One that a dead service
/// left is replaced; fails with conflict where one answers, usage where the path is too long.
Result<process::Descriptor> listen_unix(const std::string& path);
/// Listens on 127.0.0.1; port 0 = any that is free. Fails with conflict when it is taken.
Result<process::Descriptor> listen_loopback(int port);
/// The port that a socket of ours has.
int port_of(const process::Descriptor& socket);
/// The peer that connected, by the kernel's word as of connect(2).
Peer peer_of(const process::Descriptor& connection);

}  // namespace almanac::serve
