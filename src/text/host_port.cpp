// SPDX-License-Identifier: Apache-2.0
#include "text/host_port.h"

#include <algorithm>
#include <cstdint>

#include "text/number.h"

namespace almanac::text {

std::optional<HostPort> parse_host_port(std::string_view text) {
  constexpr std::int64_t kMostPort = 65535;
  HostPort made;
  std::size_t end = std::min(text.find(':'), text.size());
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    made.host = text.substr(1, end - 1);
    ++end;
  } else {
    made.host = text.substr(0, end);
  }
  if (made.host.empty()) return std::nullopt;
  text.remove_prefix(end);
  if (text.empty()) return made;
  if (text.front() != ':') return std::nullopt;
  const auto port = parse_whole(text.substr(1));
  if (!port || *port < 1 || *port > kMostPort) return std::nullopt;
  made.port = static_cast<int>(*port);
  return made;
}

}  // namespace almanac::text
