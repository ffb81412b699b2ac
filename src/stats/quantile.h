// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds medians and other quantiles of a sample.
#pragma once

#include <limits>
#include <span>

namespace almanac::stats {

/// The value of a statistic of no values.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Returns the `q` quantile (0 .. 1), interpolated between neighbors as numpy and R (type 7) do;
/// NaN for an empty sample. Reorders `scratch`. Cost: O(n).
double quantile(std::span<double> scratch, double q);

/// As quantile(), for a sample in ascending order. Cost: constant.
double quantile_sorted(std::span<const double> sorted, double q);

}  // namespace almanac::stats
