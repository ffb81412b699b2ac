// SPDX-License-Identifier: Apache-2.0
#include "steer/reservations.h"

#include <algorithm>

namespace almanac::steer {

bool is_due(const std::string& node, const Mirror& mirror, Duration within) {
  const auto& reservations = mirror.reservations();
  return std::any_of(reservations.begin(), reservations.end(), [&](const auto& each) {
    const bool is_past = each.end != kNoTime && each.end <= mirror.at();
    if (is_past || each.start > mirror.at() + within) return false;
    return std::find(each.nodes.begin(), each.nodes.end(), node) != each.nodes.end();
  });
}

}  // namespace almanac::steer
