// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nested time bins: each width is a multiple of the previous one, and all bins begin at time 0. So
/// counts in narrow bins can be merged into wider ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace almanac::report {

/// Returns the smallest width (1 s, 5 s, 15 s, 30 s, 1 min, 5 min, 15 min, 30 min, 1 h, 2 h, 4 h,
/// 12 h, 1 day, then doubling) at which [begin, end] touches at most `most` bins. Requires most >=
/// 2.
Duration bin_width(Time begin, Time end, std::size_t most);

/// Returns the number of the bin that contains `at`.
std::int64_t bin_of(Time at, Duration width);

inline Time begin_of(std::int64_t bin, Duration width) { return Time{bin * width}; }

}  // namespace almanac::report
