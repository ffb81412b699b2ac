// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service of which the number of replicas may follow its requests, and what playing it gave.
#pragma once

#include <string>
#include <vector>

#include "inference/scaled.h"
#include "inference/tenants.h"

namespace almanac::inference {

struct FleetPlan {
  Service service{};
  Scaling scaling{};
  double gpu_hour = 0;  ///< Price of a GPU for an hour.
};

/// Puts the choices of `composition` ("chunked+least_tokens+mark", "2p" for two replicas that
/// compute prompts only) in place of the plan's; "" changes nothing. Fails with usage for a word
/// that is no batcher, router or scaler.
Result<void> compose(const std::string& composition, FleetPlan& plan);

/// Finds by trial what a replica can do if there is an objective, for scalers that use its rate. A
/// fleet without bounds apart has nothing to scale and becomes steady. Fails if the scaler needs a
/// rate and none is found.
Result<void> find_rate(FleetPlan& plan, const Requests& requests, const Objective& objective);

struct Fleet {
  Scaled played{};
  Seen seen{};
  std::vector<TenantSeen> tenants{};  ///< The one served worst first.
  double gpu_hours = 0;
  double cost = 0;
  double energy_kwh = 0;
};
Result<Fleet> play_fleet(const FleetPlan& plan, const Requests& requests,
                         const Objective& objective);

}  // namespace almanac::inference
