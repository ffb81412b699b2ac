// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much two samples go together: Pearson's and Spearman's coefficients.
#pragma once

#include <span>
#include <vector>

namespace almanac::stats {

/// Pearson's correlation of two samples of one size; NaN when one of them does not vary.
double pearson(std::span<const double> a, std::span<const double> b);

/// The rank of each value, from 0; equal values share their mean rank. O(n log n).
std::vector<double> ranks(std::span<const double> values);

/// Spearman's rank correlation: Pearson's of the ranks.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace almanac::stats
