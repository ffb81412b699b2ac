// SPDX-License-Identifier: Apache-2.0

/// \file
/// The binomial test, and Holm's correction for several tests.
#pragma once

#include <cstdint>
#include <vector>

namespace almanac::stats {

/// Returns the probability of `successes` or more in `trials` that each succeed with probability
/// `p` (0 to 1): the exact one-sided binomial test. Cost: constant.
double binomial_at_least(std::int64_t successes, std::int64_t trials, double p);

/// Returns each p-value, adjusted for the number of tests and at most 1. Rejecting all hypotheses
/// whose adjusted value is below a threshold falsely rejects any of them with at most that
/// probability, however the tests depend on each other. Cost: O(n log n).
///
/// Source   Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scand. J. Statist. 1979.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace almanac::stats
