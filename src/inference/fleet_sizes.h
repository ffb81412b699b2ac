// SPDX-License-Identifier: Apache-2.0

/// \file
/// What requests would get from fixed fleets of each size: attainment and cost by replicas.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/fleet.h"

namespace almanac::inference {

/// A fixed fleet and what it gave.
struct FleetSize {
  int replicas = 0;
  double attainment = 0;  ///< Fraction of the requests that met the objective.
  std::int64_t output_tokens = 0;
  double gpu_hours = 0;
  double cost = 0;  ///< 0 without a price.
};

/// Plays `requests` on 1, 2, ... replicas of the plan's service, up to twice as many as the plan
/// has at most, at least 4 and at most 16; ends after the first fleet that serves 99.9 % of the
/// requests within the objective, or when two more replicas gain less than 0.1 points. None where
/// the plan divides replicas into prompts and answers. Fails as play_fleet() does. Cost: a run for
/// each size.
Result<std::vector<FleetSize>> play_sizes(const FleetPlan& plan, const Requests& requests,
                                          const Objective& objective);

}  // namespace almanac::inference
