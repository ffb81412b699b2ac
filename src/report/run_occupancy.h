// SPDX-License-Identifier: Apache-2.0

/// \file
/// How full each virtual cluster was, bin by bin of time: the cells of a heat map.
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

/// GPU time that jobs held, by virtual cluster and bin.
struct Occupancy {
  std::string policy{};
  Duration width{};
  std::int64_t first = 0;  ///< The first bin.
  std::size_t bins = 0;
  std::vector<double> gpu_s{};  ///< [vc * bins + bin]
};

/// How large a heat map may be.
struct OccupancyLimits {
  std::size_t vcs = 60;  ///< Those with most GPUs.
  std::size_t bins = 120;
};

/// As many bins as keep the page small with so many policies and virtual clusters.
OccupancyLimits occupancy_limits(const RunInput& input);

/// The GPU time of a job that was stopped on the way is spread evenly from its first start to its
/// end, as the simulation keeps no more. O(jobs + bins that they touch).
Occupancy occupancy_of(const RunInput& input, const std::string& policy,
                       const sim::Schedule& schedule, const OccupancyLimits& limits);

/// All policies at the width of the widest, as shares of the GPUs in service.
figure::Figure draw_occupancy(const RunInput& input, std::span<const Occupancy> policies,
                              const OccupancyLimits& limits);

}  // namespace almanac::report
