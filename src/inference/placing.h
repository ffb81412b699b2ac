// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which models belong on which GPUs, by what their requests would see.
#pragma once

#include "base/result.h"
#include "inference/placed.h"
#include "inference/request.h"
#include "inference/service.h"

namespace almanac::inference {

/// A plan for the models that `requests` name, on `gpus` GPUs in groups of equal size: beginning
/// with none, the replica is added with which most requests meet the objective, until none more
/// do. All sizes that divide the GPUs are tried, up to the GPUs of a node (8). Groups that stay
/// empty are left out. Of `service` count its board, limits, former and router.
///
/// Source   Li et al., OSDI'23 (AlpaServe), section 4.2: selection of replicas guided by a
///          simulator, over group sizes.
/// Differs  one plan is kept at each step instead of a beam; a group computes its layers in tensor
///          parallel, without pipelines; models are not sorted into buckets of alike size first.
///
/// Fails with invalid where requests name no models or no model fits; with not_found for a name
/// that is no model; as play_placed() does. Cost: a run of the log for each model, kind of group
/// and replica of the plan, on all cores.
Result<Plan> place_models(const Service& service, const Requests& requests,
                          const Objective& objective, int gpus);

/// The table that read_plan() reads.
std::string to_csv(const Plan& plan);

}  // namespace almanac::inference
