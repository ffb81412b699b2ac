// SPDX-License-Identifier: Apache-2.0

/// \file
/// Exact tests of counts.
#pragma once

#include <cstdint>
#include <vector>

namespace almanac::stats {

/// The probability of `successes` or more in `trials`, each of probability `p` (0 to 1): the exact
/// one-sided binomial test. O(1).
double binomial_at_least(std::int64_t successes, std::int64_t trials, double p);

/// Of many tests, each p-value as it is beside the others: what it is called below a threshold by
/// holds for all of them at once, however they hang together. At most 1. O(n log n).
///
/// Source   Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scand. J. Statist. 1979.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace almanac::stats
