// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plans again and again as rates change, and replays what requests see of it.
#pragma once

#include <cstddef>
#include <vector>

#include "deployment/replay.h"

namespace almanac::deployment {

/// A planner that followed the rates.
struct Replanned {
  double rates = 1;  ///< Factor on the rates for which it planned.
  std::vector<Phase> phases{};
  DeploymentRun run{};
  double gpu_hours = 0;  ///< GPUs with an instance, until the last request.
  double grams = 0;      ///< CO2 of those GPUs, idle power included.
  int most_gpus = 0;     ///< At one time, those of transitions included.
  int plans = 0;         ///< Changes of plan after the first.
  int tuned = 0;         ///< Changes of copies between two plans.
  int loads = 0;         ///< Instances loaded after the first plan.
  int refused = 0;       ///< Steps at which no plan was found; the one before stayed.
  int interrupted = 0;   ///< Transitions that took capacity away before they replaced it.
};

/// Plans at the start for the rates of the services, and then every `step_s` for `rates` times what
/// the planner forecasts from `arrivals` so far, at least a request a step. A step at which a
/// transition is under way passes. Its tuner, if it has one, looks each second in between: its
/// change replaces the rest of a transition, and what loads goes on loading. A planner
/// that knows carbon gets the intensity of the moment, and without a usual one the mean of
/// GpuFleet::carbon until the last request. Fails as the planner does at the start. Cost: a plan
/// and a transition per step, and a replay.
Result<Replanned> plan_over_time(const PlannerChoice& planner, const PlanningCase& asked,
                                 const std::vector<TaskArrival>& arrivals, double step_s,
                                 double rates = 1);

/// Returns the first of 1, 1.1, 1.2 ... 4 times the forecasts with which `share` of the requests of
/// each service are in time. Fails with unavailable if none is, naming the best. Cost: up to 31
/// times that of plan_over_time().
Result<Replanned> plan_over_time_in_time(const PlannerChoice& planner, const PlanningCase& asked,
                                         const std::vector<TaskArrival>& arrivals, double step_s,
                                         double share);

}  // namespace almanac::deployment
