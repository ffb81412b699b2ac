// SPDX-License-Identifier: Apache-2.0

/// \file
/// The default sampling interval of a simulation's timeline.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/time.h"

namespace almanac::sim {

/// Returns the shortest round interval with at most 100,000 samples in `span`.
inline Duration fitting_interval(Duration span) {
  constexpr std::array<Duration, 7> kIntervals = {1min, 5min, 10min, 30min, 1h, 6h, 24h};
  constexpr int kUsual = 100'000;
  for (const Duration interval : kIntervals) {
    if (span / interval <= kUsual) return interval;
  }
  return kIntervals.back() * (span / kIntervals.back() / kUsual + 1);
}

/// Samples that a run keeps whose last jobs run for far longer than jobs came; even.
inline constexpr std::size_t kMostSamples = 1'000'000;

/// Drops every other sample.
template <typename Sample>
void thin_out(std::vector<Sample>& samples) {
  for (std::size_t at = 0; 2 * at < samples.size(); ++at) samples[at] = samples[2 * at];
  samples.resize((samples.size() + 1) / 2);
}

}  // namespace almanac::sim
