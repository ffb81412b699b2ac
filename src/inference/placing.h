// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which models belong on which GPUs, by what their requests would see.
#pragma once

#include <vector>

#include "base/result.h"
#include "inference/placed.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

/// GPUs of one kind that there are.
struct GpuPool {
  Board board{};
  int gpus = 0;
  double gpu_hour = 0;  ///< Price of one for an hour.
};

struct PlacingQuestion {
  std::vector<GpuPool> pools{};  ///< One at least.
  Objective objective{};
  /// Part of all requests that is enough; the plan is then as cheap as was found. 0 = as many as
  /// can be are to be served.
  double share = 0;
};

/// A plan for the models that `requests` name, on the GPUs of each pool in groups of equal size:
/// beginning with none, the replica is added with which most requests meet the objective, until
/// none more do. All sizes that divide the GPUs of a pool are tried with all of the others, up to
/// the GPUs of a node (8). Groups that stay empty are left out.
///
/// Where a share is told, the replica is added that brings most for what its GPUs cost, until the
/// share is reached; then groups go as long as it still is, the dearest first; and of the sizes
/// that reach it the cheapest plan counts. Fails with unavailable where none does.
///
/// Of `service` count its limits, former and router.
///
/// Source   Li et al., OSDI'23 (AlpaServe), section 4.2: selection of replicas guided by a
///          simulator, over group sizes.
/// Differs  one plan is kept at each step instead of a beam; a group computes its layers in tensor
///          parallel, without pipelines; models are not sorted into buckets of alike size first;
///          AlpaServe knows no kinds and prices.
///
/// Fails with invalid where requests name no models or no model fits; with not_found for a name
/// that is no model; as play_placed() does. Cost: a run of the log for each model, kind of group
/// and replica of the plan, on all cores.
Result<Plan> place_models(const Service& service, const Requests& requests,
                          const PlacingQuestion& asked);

/// The table that read_plan() reads.
std::string to_csv(const Plan& plan);

}  // namespace almanac::inference
