// SPDX-License-Identifier: Apache-2.0

/// \file
/// The binomial test.
#pragma once

#include <cstdint>

namespace almanac::stats {

/// Returns the probability of `successes` or more in `trials` that each succeed with probability
/// `p` (0 to 1): the exact one-sided binomial test. Cost: constant.
double binomial_at_least(std::int64_t successes, std::int64_t trials, double p);

}  // namespace almanac::stats
