// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the requests of services see of a deployment, request by request, whoever planned it.
#pragma once

#include <cstddef>
#include <vector>

#include "inference/deployment.h"
#include "inference/task_run.h"

namespace almanac::inference {

struct DeploymentRun {
  struct OfService {
    std::size_t requests = 0;
    std::size_t in_time = 0;
  };
  std::vector<OfService> services{};
  /// Of the service that is served worst; 1 where nothing is asked.
  double worst() const;
};

/// Plays arrivals, sorted, on the instances of a deployment that check() finds right. Each request
/// is dealt to an instance of its service by what each can answer; where all variants vote, to one
/// of each. An instance takes what waits, up to its batch, as soon as it is free; those that take
/// turns go round, and one that has nothing is passed over. Nothing is dropped. A request is in
/// time if all its answers come within the objective. O(arrivals x instances).
DeploymentRun play_deployment(const PlanningCase& asked, const Deployment& deployment,
                              const std::vector<TaskArrival>& arrivals);

}  // namespace almanac::inference
