// SPDX-License-Identifier: Apache-2.0

/// \file
/// The percentiles at which figures show a distribution: 1 to 99, and 99.9.
#pragma once

#include <array>

namespace almanac::stats {

inline constexpr std::array<double, 100> kPercentiles = [] {
  std::array<double, 100> points{};
  for (int p = 1; p <= 99; ++p) points[static_cast<std::size_t>(p - 1)] = p;
  points.back() = 99.9;
  return points;
}();

}  // namespace almanac::stats
