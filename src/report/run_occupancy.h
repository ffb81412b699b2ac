// SPDX-License-Identifier: Apache-2.0

/// \file
/// Occupancy of each virtual cluster by time bin: the cells of a heat map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "report/run_input.h"
#include "sim/simulation.h"

namespace almanac::report {

/// GPU time allocated to jobs, by virtual cluster and bin.
struct Occupancy {
  std::string policy{};
  Duration width{};
  std::int64_t first = 0;  ///< The first bin.
  std::size_t bins = 0;
  std::vector<double> gpu_s{};  ///< [vc * bins + bin]
};

/// Largest size of a heat map.
struct OccupancyLimits {
  std::size_t vcs = 60;  ///< Virtual clusters with the most GPUs.
  std::size_t bins = 120;
};

/// Returns limits that keep the page small for this number of policies and virtual clusters.
OccupancyLimits occupancy_limits(const RunInput& input);

/// Returns the occupancy. Spreads the GPU time of a job that was stopped evenly from its first
/// start to its end, because the schedule keeps no more detail. O(jobs + bins that they touch).
Occupancy occupancy_of(const RunInput& input, const std::string& policy,
                       const sim::Schedule& schedule, const OccupancyLimits& limits);

/// Draws all policies at the width of the widest, as fractions of the GPUs in service.
figure::Figure draw_occupancy(const RunInput& input, std::span<const Occupancy> policies,
                              const OccupancyLimits& limits);

}  // namespace almanac::report
