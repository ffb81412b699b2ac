// SPDX-License-Identifier: Apache-2.0
#include "stats/share.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>

namespace almanac::stats {

double top_share(std::span<double> scratch, double fraction) {
  if (scratch.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double wanted = std::round(fraction * static_cast<double>(scratch.size()));
  const auto count =
      std::clamp(static_cast<std::size_t>(std::max(wanted, 1.0)), std::size_t{1}, scratch.size());
  const auto end = scratch.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(scratch.begin(), end - 1, scratch.end(), std::greater<>());
  const double top = std::accumulate(scratch.begin(), end, 0.0);
  return top / std::accumulate(end, scratch.end(), top);
}

}  // namespace almanac::stats
