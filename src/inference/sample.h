// SPDX-License-Identifier: Apache-2.0

/// \file
/// A few requests that stand for a log.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace almanac::inference {

/// Returns up to `most` of the numbers 0 to `count` - 1, in order: one of each equal part of the
/// range, at another place in each part. So a log whose requests alternate is not represented by
/// requests of one kind.
inline std::vector<std::size_t> spread_sample(std::size_t count, std::size_t most) {
  constexpr double kGolden = 0.6180339887498949;
  const std::size_t parts = std::min(count, most);
  std::vector<std::size_t> made;
  for (std::size_t at = 0; at < parts; ++at) {
    const std::size_t first = at * count / parts, end = (at + 1) * count / parts;
    const double place = std::fmod(static_cast<double>(at) * kGolden, 1);
    made.push_back(first + static_cast<std::size_t>(place * static_cast<double>(end - first)));
  }
  return made;
}

}  // namespace almanac::inference
