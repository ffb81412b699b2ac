// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the running jobs of a Slurm cluster hold, as grants that a ledger can take.
///
/// A ledger aborts when something is taken twice; a Slurm may well give it twice (OverSubscribe,
/// jobs of a node that was made smaller), or tell how many GPUs a job has and not which. So all is
/// counted out here first: which GPUs are known goes first, then numbers get what is left, and what
/// there is no room for is cut off.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "steer/world.h"

namespace almanac::steer {

struct Occupied {
  std::vector<cluster::Grant> held{};   ///< On nodes of one virtual cluster.
  std::vector<cluster::Grant> stray{};  ///< GPUs on nodes of others.
};

/// For each of `jobs`, in order. A job of shards holds what its shards are of a GPU, or with
/// `evenly` as much of it as the others there: all where it is alone.
std::vector<Occupied> count_out(const World& world, const std::vector<const slurm::Job*>& jobs,
                                bool evenly = false);

}  // namespace almanac::steer
