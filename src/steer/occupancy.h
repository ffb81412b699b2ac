// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the running jobs of a Slurm cluster hold, as grants for a ledger.
///
/// A ledger aborts if something is taken twice. Slurm may allocate it twice (OverSubscribe, jobs on
/// a node that was made smaller), or report only how many GPUs a job has. So everything is counted
/// here first: known GPUs take precedence, counts get what is left, and the excess is cut off.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "steer/world.h"

namespace almanac::steer {

struct Occupied {
  std::vector<cluster::Grant> held{};   ///< On nodes of one virtual cluster.
  std::vector<cluster::Grant> stray{};  ///< GPUs on nodes of others.
};

/// Returns the grants of each of `jobs`, in order. A job of shards holds its shards' part of a GPU,
/// or, with `evenly`, an equal part: all of the GPU if it is alone.
std::vector<Occupied> count_out(const World& world, const std::vector<const slurm::Job*>& jobs,
                                bool evenly = false);

}  // namespace almanac::steer
