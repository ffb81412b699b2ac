// SPDX-License-Identifier: Apache-2.0

/// \file
/// Bins of time that fit each other: each width is a whole multiple of the one before and all begin
/// at time 0, so that what was counted in narrow bins can be brought to wider ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace almanac::report {

/// The narrowest width (1 s, 5 s, 15 s, 30 s, 1 min, 5 min, 15 min, 30 min, 1 h, 2 h, 4 h, 12 h,
/// 1 day, then twice the one before) at which [begin, end] touches at most `most` bins, `most`
/// >= 2.
Duration bin_width(Time begin, Time end, std::size_t most);

/// The number of the bin that holds `at`.
std::int64_t bin_of(Time at, Duration width);

inline Time begin_of(std::int64_t bin, Duration width) { return Time{bin * width}; }

}  // namespace almanac::report
