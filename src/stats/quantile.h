// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds medians and other quantiles of a sample.
#pragma once

#include <limits>
#include <span>

namespace almanac::stats {

/// Stands for a figure of no values.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The `q` quantile (0 .. 1), interpolated between neighbours as numpy and R (type 7) do; NaN for
/// an empty sample. Reorders `scratch`. O(n).
double quantile(std::span<double> scratch, double q);

/// The same of a sample in ascending order. O(1).
double quantile_sorted(std::span<const double> sorted, double q);

}  // namespace almanac::stats
