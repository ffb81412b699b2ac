// SPDX-License-Identifier: Apache-2.0

/// \file
/// The load over time under each policy, thinned out for a page: of each bin the mean, and the
/// extremes beside it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "sim/simulation.h"

namespace almanac::report {

/// The samples of one bin of time.
struct LoadBin {
  std::int64_t bin = 0;
  double samples = 0;
  double gpus_total = 0, gpus_busy = 0, gpus_waiting = 0, jobs_waiting = 0;  ///< Sums.
  double nodes_asleep = 0;                                                   ///< Sum.
  double gpus_computing = 0;             ///< Sum; NaN where speeds are not simulated.
  double cpus_total = 0, cpus_busy = 0;  ///< Sums.
  double gpus_busy_min = 0, gpus_busy_max = 0, gpus_waiting_max = 0, jobs_waiting_max = 0;

  void add(const LoadBin& more);
};

struct Timeline {
  std::string policy{};
  Duration width{};
  std::vector<LoadBin> bins{};  ///< In order; a bin without samples is left out.
};

/// At most `most` bins. O(samples).
Timeline timeline_of(const std::string& policy, const sim::Schedule& schedule, std::size_t most);

/// All policies at the width of the widest. Columns policy, time, and of each bin the means and
/// extremes.
figure::Figure draw_timelines(std::span<const Timeline> timelines);

}  // namespace almanac::report
