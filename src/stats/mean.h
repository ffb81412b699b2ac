// SPDX-License-Identifier: Apache-2.0

/// \file
/// The arithmetic mean.
#pragma once

#include <limits>
#include <span>

namespace almanac::stats {

/// Returns the mean; NaN for no values.
inline double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace almanac::stats
