// SPDX-License-Identifier: Apache-2.0

/// \file
/// The part of a URL that names a host and a port.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace almanac::text {

struct HostPort {
  std::string host{};         ///< Without the brackets of an IPv6 address.
  std::optional<int> port{};  ///< 1 to 65535; nothing where no port is given.
};

/// Reads HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT; nothing if `text` is none of them.
std::optional<HostPort> parse_host_port(std::string_view text);

}  // namespace almanac::text
