// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/restart_cost.h"

#include <algorithm>
#include <cmath>

namespace almanac::policy {

Duration RestartCost::of(const trace::Request& request, Duration worked,
                         std::span<const cluster::Grant> held,
                         std::span<const cluster::Grant> wanted) const {
  const auto same_gpus = [](const cluster::Grant& one, const cluster::Grant& other) {
    return one.is_place_of(other);
  };
  if (std::equal(held.begin(), held.end(), wanted.begin(), wanted.end(), same_gpus)) return {};
  int gpus = 0;
  for (const cluster::Grant& grant : held) gpus += grant.count();
  Duration cost = std::isnan(request.restart_s)
                      ? of(gpus)
                      : Duration{std::llround(double{request.restart_s} * 1e3)};
  if (request.checkpoint_s > 0) {
    const Duration interval{std::llround(double{request.checkpoint_s} * 1e3)};
    cost += worked % std::max(interval, Duration{1});
  }
  return cost;
}

Duration RestartCost::of_failure(const trace::Request& request, Duration worked,
                                 std::span<const cluster::Grant> held) const {
  const Duration cost = of(request, worked, held, {});
  return std::isnan(request.checkpoint_s) ? cost + worked % assumed_checkpoint : cost;
}

}  // namespace almanac::policy
