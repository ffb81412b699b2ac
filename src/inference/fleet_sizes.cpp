// SPDX-License-Identifier: Apache-2.0
#include "inference/fleet_sizes.h"

#include <algorithm>

namespace almanac::inference {

Result<std::vector<FleetSize>> play_sizes(const FleetPlan& plan, const Requests& requests,
                                          const Objective& objective) {
  constexpr double kNearlyAll = 0.999;
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
    if (sizes.back().attainment >= kNearlyAll) break;
  }
  return sizes;
}

}  // namespace almanac::inference
