// SPDX-License-Identifier: Apache-2.0
#include "inference/fleet_sizes.h"

#include <algorithm>

namespace almanac::inference {

Result<std::vector<FleetSize>> play_sizes(const FleetPlan& plan, const Requests& requests,
                                          const Objective& objective) {
  constexpr double kNearlyAll = 0.999;
  // Past the load that the fleet can carry, more replicas change little.
  constexpr double kCarried = 0.5;
  constexpr double kGain = 0.001;
  std::vector<FleetSize> sizes;
  if (plan.service.prefill > 0) return sizes;
  const int most = std::clamp(2 * plan.scaling.told.most, 4, 16);
  for (int replicas = 1; replicas <= most; ++replicas) {
    FleetPlan fixed = plan;
    fixed.service.replicas = replicas;
    fixed.scaling.scaler = "steady";
    fixed.scaling.told.least = replicas;
    fixed.scaling.told.most = replicas;
    const auto fleet = play_fleet(fixed, requests, objective);
    if (!fleet) return tl::unexpected(fleet.error());
    sizes.push_back({.replicas = replicas,
                     .attainment = fleet->seen.attainment(),
                     .output_tokens = fleet->seen.output_tokens,
                     .gpu_hours = fleet->gpu_hours,
                     .cost = fleet->cost});
    const double attainment = sizes.back().attainment;
    const bool is_flat = sizes.size() > 2 && attainment >= kCarried &&
                         attainment - sizes[sizes.size() - 3].attainment < kGain;
    if (attainment >= kNearlyAll || is_flat) break;
  }
  return sizes;
}

}  // namespace almanac::inference
