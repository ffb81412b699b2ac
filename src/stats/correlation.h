// SPDX-License-Identifier: Apache-2.0

/// \file
/// Correlation of two samples: Pearson's and Spearman's coefficients.
#pragma once

#include <span>
#include <vector>

namespace almanac::stats {

/// Returns Pearson's correlation of two samples of equal size; NaN if one of them is constant.
double pearson(std::span<const double> a, std::span<const double> b);

/// Returns the rank of each value, from 0; equal values share their mean rank. Cost: O(n log n).
std::vector<double> ranks(std::span<const double> values);

/// Returns Spearman's rank correlation: Pearson's of the ranks.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace almanac::stats
