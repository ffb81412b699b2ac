// SPDX-License-Identifier: Apache-2.0

/// \file
/// The straight line through equally spaced values.
#pragma once

#include <cstddef>
#include <span>

namespace almanac::stats {

/// Returns the value at position `at` of the least-squares line through `values`, which stand at
/// 0, 1, 2 ...; the only value if there is one. There must be at least one. Cost: O(values).
inline double line_at(std::span<const double> values, double at) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, sum_at = 0, sum_of_both = 0, sum_of_squares = 0;
  for (std::size_t each = 0; each < values.size(); ++each) {
    const auto x = static_cast<double>(each);
    sum += values[each];
    sum_at += x;
    sum_of_both += x * values[each];
    sum_of_squares += x * x;
  }
  const double spread = count * sum_of_squares - sum_at * sum_at;
  const double slope = spread > 0 ? (count * sum_of_both - sum_at * sum) / spread : 0;
  return sum / count + slope * (at - sum_at / count);
}

}  // namespace almanac::stats
