// SPDX-License-Identifier: Apache-2.0

/// \file
/// The load over time under each policy, reduced to the mean and the extremes of each time bin.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "sim/simulation.h"

namespace almanac::report {

/// Samples of one time bin.
struct LoadBin {
  std::int64_t bin = 0;
  double samples = 0;
  double gpus_total = 0, gpus_busy = 0, gpus_waiting = 0, jobs_waiting = 0;  ///< Sums.
  double nodes_asleep = 0;                                                   ///< Sum.
  double gpus_computing = 0;             ///< Sum; NaN if speeds are not simulated.
  double cpus_total = 0, cpus_busy = 0;  ///< Sums.
  double gpus_busy_min = 0, gpus_busy_max = 0, gpus_waiting_max = 0, jobs_waiting_max = 0;

  void add(const LoadBin& more);
};

struct Timeline {
  std::string policy{};
  Duration width{};
  std::vector<LoadBin> bins{};  ///< In order, without bins that have no samples.
};

/// Returns at most `most` bins. O(samples).
Timeline timeline_of(const std::string& policy, const sim::Schedule& schedule, std::size_t most);

/// Draws all policies at the width of the widest. The columns are policy, time, and the means and
/// extremes of each bin.
figure::Figure draw_timelines(std::span<const Timeline> timelines);

}  // namespace almanac::report
