// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the GPUs for each model by simulating what its requests would see.
#pragma once

#include <vector>

#include "base/result.h"
#include "inference/placed.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

/// The available GPUs of one kind.
struct GpuPool {
  Board board{};
  int gpus = 0;
  double gpu_hour = 0;  ///< Price per GPU-hour.
};

struct PlacingQuestion {
  std::vector<GpuPool> pools{};  ///< At least one.
  Objective objective{};
  /// Fraction of all requests that must meet the objective; the plan is then the cheapest one
  /// found. 0 to serve as many as possible.
  double share = 0;
};

/// Returns a plan for the models that `requests` name, on the GPUs of each pool in groups of equal
/// size. Starting from none, it adds the replica with which the most requests meet the objective,
/// until none gains more. It tries every combination of group sizes that divide the GPUs of a pool,
/// up to the GPUs of a node (8). Empty groups are left out.
///
/// With a required share, it adds the replica with the highest gain per cost until the share is
/// reached. It then removes groups, the most expensive first, while the share is still met. The
/// cheapest plan over all sizes wins. Fails with `unavailable` if no size reaches the share.
///
/// Uses the limits, former and router of `service`.
///
/// Source   Li et al., OSDI'23 (AlpaServe), section 4.2: selection of replicas guided by a
///          simulator, over group sizes.
/// Differs  one plan is kept at each step instead of a beam; a group computes its layers
///          tensor-parallel, without pipelines; models are not first sorted into buckets of similar
///          size; AlpaServe has no GPU kinds and prices.
///
/// Fails with `invalid` if requests name no models or no model fits; with `not_found` for an
/// unknown model; and like play_placed(). Cost: one run of the log for each model, kind of group
/// and replica of the plan, on all cores.
Result<Plan> place_models(const Service& service, const Requests& requests,
                          const PlacingQuestion& asked);

/// Returns the plan as a table for read_plan().
std::string to_csv(const Plan& plan);

}  // namespace almanac::inference
