// SPDX-License-Identifier: Apache-2.0

/// \file
/// Pipelines: services whose requests are made by the answers of other services.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "deployment/deployment.h"
#include "deployment/registry.h"

namespace almanac::deployment {

/// Returns the service whose requests from clients lead to those of `service`; itself if clients
/// send them. O(stages).
std::size_t root_of(const std::vector<TaskService>& services, std::size_t service);

/// Returns the services of the pipeline that starts with `root`, in order. O(services x stages).
std::vector<std::size_t> pipeline_of(const std::vector<TaskService>& services, std::size_t root);

/// Sets the rates of stages to those of the services before them.
void set_stage_rates(std::vector<TaskService>& services);

/// Returns the case in which each stage is a service with a part of its pipeline's objective: the
/// parts along a path are at most the objective, and the GPUs for all stages are the fewest. A part
/// is a multiple of 1/100 of the objective. Fails with unavailable if some stage has no variant
/// that is in time. Cost: O(stages x 100^2).
///
/// Source   Shen et al., SOSP'19 (Nexus): the latency of a complex query is split by dynamic
/// programming.
Result<PlanningCase> split_objectives(const PlanningCase& asked);

/// Returns the plan of `planner`. One that does not plan pipelines gets each stage as a service
/// with a part of the objective. Fails as the planner and split_objectives() do.
Result<Deployment> plan_with(const PlannerChoice& planner, const PlanningCase& asked);

}  // namespace almanac::deployment
