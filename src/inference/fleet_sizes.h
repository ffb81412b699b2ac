// SPDX-License-Identifier: Apache-2.0

/// \file
/// Attainment and cost of fixed fleets, by number of replicas.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/fleet.h"

namespace almanac::inference {

/// A fixed fleet and its results.
struct FleetSize {
  int replicas = 0;
  double attainment = 0;  ///< Fraction of the requests that met the objective.
  std::int64_t output_tokens = 0;
  double gpu_hours = 0;
  double cost = 0;  ///< 0 without a price.
};

/// Simulates `requests` on 1, 2, ... replicas of the plan's service, up to twice the plan's
/// maximum, but at least 4 and at most 16. Stops after the first fleet in which 99.9 % of the
/// requests meet the objective, or when two more replicas gain less than 0.1 points. Returns
/// nothing if the plan separates prefill and decode replicas. Fails like play_fleet(). Cost: one
/// run per size.
Result<std::vector<FleetSize>> play_sizes(const FleetPlan& plan, const Requests& requests,
                                          const Objective& objective);

}  // namespace almanac::inference
