// SPDX-License-Identifier: Apache-2.0

/// \file
/// Draws the time limits that users request: too long, and round.
///
/// Source   Mu'alem, Feitelson, IEEE TPDS 2001, section 4 (requests exceed run times widely and
///          cluster at round values).
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "trace/workload.h"

namespace almanac::trace {

/// The least round limit of at least `seconds`: 5, 10, 15, 30 min, 1, 2, 3, 4, 6, 8, 12 h, days.
std::uint32_t round_limit(double seconds);

/// Returns the limit that the user of a recipe with a typical run time of `typical_s` requests; 0
/// for none.
std::uint32_t ask_limit(const Workload::Limit& limit, std::int64_t typical_s, Rng& rng);

}  // namespace almanac::trace
