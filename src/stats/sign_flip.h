// SPDX-License-Identifier: Apache-2.0

/// \file
/// The sign-flip test: could paired differences as well have the opposite signs? Its units are
/// blocks such as days, because the jobs of one day depend on each other.
///
/// Source   Fisher, The Design of Experiments, 1935, section 21.
#pragma once

#include <cstddef>
#include <span>

#include "base/rng.h"

namespace almanac::stats {

/// Returns the probability that random signs make the sum of `blocks` at least as far from 0 as it
/// is. Uses all 2^n combinations of signs if there are at most `times`, otherwise `times` random
/// ones and the observed one. Returns 1 for no blocks. Deterministic in `rng`. Cost:
/// O(times x blocks).
double sign_flip_p(std::span<const double> blocks, std::size_t times, Rng& rng);

}  // namespace almanac::stats
