// SPDX-License-Identifier: Apache-2.0

/// \file
/// How often the timeline of a simulation is sampled unless its user says so.
#pragma once

#include <array>

#include "base/time.h"

namespace almanac::sim {

/// The shortest round interval that gives at most 100,000 samples of `span`.
inline Duration fitting_interval(Duration span) {
  constexpr std::array<Duration, 7> kIntervals = {1min, 5min, 10min, 30min, 1h, 6h, 24h};
  constexpr int kMostSamples = 100'000;
  for (const Duration interval : kIntervals) {
    if (span / interval <= kMostSamples) return interval;
  }
  return kIntervals.back() * (span / kIntervals.back() / kMostSamples + 1);
}

}  // namespace almanac::sim
