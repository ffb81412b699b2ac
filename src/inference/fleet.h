// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service whose number of replicas may follow its requests, and its simulation results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/scaled.h"
#include "inference/spot.h"
#include "inference/tenants.h"

namespace almanac::inference {

struct FleetPlan {
  Service service{};
  Scaling scaling{};
  double gpu_hour = 0;  ///< Price of a GPU for an hour.
  /// Instead of replicas and a scaler: spot instances.
  std::optional<SpotCase> spot{};
};

/// Replaces choices of the plan by those of `composition`, such as "chunked+least_tokens+mark" or
/// "2p" for two prefill-only replicas; "" changes nothing. With spot instances a word may be a rule
/// for them, and none a scaler or prefill-only replicas. Fails with usage for a word that is none
/// of these, and for two words of one kind.
Result<void> compose(const std::string& composition, FleetPlan& plan);

/// Finds the request rate that one replica can serve within the objective, for scalers that need
/// it. A fleet with equal bounds has nothing to scale and becomes steady. Fails if the scaler needs
/// a rate and none is found.
Result<void> find_rate(FleetPlan& plan, const Requests& requests, const Objective& objective);

struct Fleet {
  Scaled played{};  ///< With spot instances, only outcomes and busy times.
  std::optional<SpotRun> spot{};
  Seen seen{};
  std::vector<TenantSeen> tenants{};  ///< Ordered by attainment, worst first.
  double gpu_hours = 0;
  double cost = 0;
  double energy_kwh = 0;
};
Result<Fleet> play_fleet(const FleetPlan& plan, const Requests& requests,
                         const Objective& objective);

}  // namespace almanac::inference
