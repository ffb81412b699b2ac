// SPDX-License-Identifier: Apache-2.0

/// \file
/// The default sampling interval of a simulation's timeline.
#pragma once

#include <array>

#include "base/time.h"

namespace almanac::sim {

/// Returns the shortest round interval with at most 100,000 samples in `span`.
inline Duration fitting_interval(Duration span) {
  constexpr std::array<Duration, 7> kIntervals = {1min, 5min, 10min, 30min, 1h, 6h, 24h};
  constexpr int kMostSamples = 100'000;
  for (const Duration interval : kIntervals) {
    if (span / interval <= kMostSamples) return interval;
  }
  return kIntervals.back() * (span / kIntervals.back() / kMostSamples + 1);
}

}  // namespace almanac::sim
