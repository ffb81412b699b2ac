// SPDX-License-Identifier: Apache-2.0
#include "text/gauge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace almanac::text {
namespace {

constexpr std::size_t kPlaces = 20;

const char* colour_of(double share) {
  if (share < 0.25) return "\x1b[31m";
  return share < 0.5 ? "\x1b[33m" : "\x1b[32m";
}

}  // namespace

std::string gauge(double share, bool colour) {
  if (std::isnan(share)) return "[" + std::string(kPlaces, ' ') + "]";
  const double of_all = std::clamp(share, 0.0, 1.0);
  const auto places = static_cast<std::size_t>(std::lround(of_all * kPlaces));
  // Little is not nothing.
  const std::size_t filled = share > 0 ? std::max<std::size_t>(1, places) : 0;
  const std::string bar(filled, '|');
  return "[" + (colour && filled > 0 ? colour_of(share) + bar + "\x1b[0m" : bar) +
         std::string(kPlaces - filled, ' ') + "]";
}

}  // namespace almanac::text
