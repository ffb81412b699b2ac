// SPDX-License-Identifier: Apache-2.0
#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace almanac::stats {
namespace {

/// Where the quantile lies: between the order statistics `low` and `low + 1`.
struct Position {
  std::size_t low;
  double fraction;
};

Position position(std::size_t size, double q) {
  const double exact = static_cast<double>(size - 1) * std::clamp(q, 0.0, 1.0);
  const double low = std::floor(exact);
  return {static_cast<std::size_t>(low), exact - low};
}

}  // namespace

double quantile(std::span<double> scratch, double q) {
  if (scratch.empty()) return kNaN;
  const auto [low, fraction] = position(scratch.size(), q);
  const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(low);
  std::nth_element(scratch.begin(), middle, scratch.end());
  if (fraction == 0) return *middle;
  const double above = *std::min_element(middle + 1, scratch.end());
  if (above == *middle) return above;  // also where both are infinite
  return *middle + fraction * (above - *middle);
}

double quantile_sorted(std::span<const double> sorted, double q) {
  if (sorted.empty()) return kNaN;
  const auto [low, fraction] = position(sorted.size(), q);
  if (fraction == 0) return sorted[low];
  if (sorted[low] == sorted[low + 1]) return sorted[low];
  return sorted[low] + fraction * (sorted[low + 1] - sorted[low]);
}

}  // namespace almanac::stats
