// SPDX-License-Identifier: Apache-2.0

/// \file
/// The mean of a quantity between two times.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace almanac::perf {

struct Stretch {
  Time from{};
  Time to{};
  double value = 0;
};

/// Returns the rate per second of a counter that grew from `before` to `now`; `to` must be later
/// than `from`.
inline Stretch rate(Time from, double before, Time to, double now) {
  return {from, to, std::max(0.0, now - before) / seconds(to - from)};
}

}  // namespace almanac::perf
