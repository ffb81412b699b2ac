// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates the requests to a deployment one by one, whatever planned it.
#pragma once

#include <cstddef>
#include <vector>

#include "deployment/deployment.h"
#include "deployment/registry.h"
#include "deployment/task_run.h"

namespace almanac::deployment {

struct DeploymentRun {
  struct OfService {
    std::size_t requests = 0;
    std::size_t in_time = 0;
  };
  std::vector<OfService> services{};
  double busy_j = 0;   ///< Energy of all batches beyond idle GPUs.
  double busy_g = 0;   ///< Grams of CO2 of that energy, by the intensity at each batch's start.
  double span_ms = 0;  ///< From the first arrival to the last answer.
  /// Mean power of the batches beyond idle GPUs, with batches as large as the replay formed them.
  double busy_w() const { return span_ms > 0 ? 1000 * busy_j / span_ms : 0; }
  /// Part of the requests of a service that are in time; 1 without requests.
  double in_time(std::size_t service) const;
  /// Of the worst service.
  double worst() const;
};

/// Replays arrivals, sorted, on the instances of a deployment that passes check(). Each request
/// is dealt to an instance of its service by what each can answer; where all variants vote, to one
/// of each. An instance takes what waits, up to its batch, as soon as it is free; those that take
/// turns go round, and one that has nothing is passed over. Nothing is dropped. A request is in
/// time if all its answers, and those of the stages after it, come within the objective. Each
/// answer makes the whole part of `per_answer` requests for a stage, and another with the chance of
/// the rest, the same in every replay with one seed. Only requests of clients count. O(arrivals x
/// instances), arrivals at stages included.
DeploymentRun play_deployment(const PlanningCase& asked, const Deployment& deployment,
                              const std::vector<TaskArrival>& arrivals);

/// What runs from a moment on.
struct Phase {
  double from_ms = 0;
  Deployment running{};
  /// By instance: when it has loaded and answers. Empty: all do at once.
  std::vector<double> ready_ms{};
  int loads = 0;  ///< Instances that begin to load with this phase.
};

/// Whether both are the same copy of a variant: of one service, with the same share of one GPU. Its
/// batch and its turns can change while it runs.
bool is_same_copy(const Instance& one, const Instance& other);

/// Replays arrivals as play_deployment() does while the deployment changes. `phases` are sorted and
/// not empty. At a change a batch that runs ends as it would have; waiting requests are dealt again
/// to what runs then, or, if nothing of their service is loaded, to what is ready first. A vote
/// stays with its variant; a request whose waiting votes are all of variants that are gone, or of a
/// service that no longer votes, is dealt once, as a new one. O(arrivals x instances + phases x
/// instances^2).
DeploymentRun play_phases(const PlanningCase& asked, const std::vector<Phase>& phases,
                          const std::vector<TaskArrival>& arrivals);

/// A plan, and what requests see of it in a replay.
struct Replayed {
  double rates = 1;  ///< Highest factor on the rate of a service for which the plan is made.
  Deployment plan{};
  DeploymentRun run{};
};

/// Returns the plan of `planner` for the rates as they are, and what a replay sees of it. Fails as
/// the planner does.
Result<Replayed> plan_and_replay(const PlannerChoice& planner, const PlanningCase& asked,
                                 const std::vector<TaskArrival>& arrivals);

/// Returns the first plan with which `share` of the requests of each service are in time when it is
/// replayed with `arrivals`. Plans are made for 1.1, 1.2 ... 4 times the rate of each service that
/// missed in the replay before: planners leave no room for requests that come at random. Fails with
/// unavailable if none is, naming the best. Cost: up to 31 plans and replays for each service.
Result<Replayed> plan_in_time(const PlannerChoice& planner, const PlanningCase& asked,
                              const std::vector<TaskArrival>& arrivals, double share);

}  // namespace almanac::deployment
