// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which running jobs of a Slurm could be moved so that jobs that wait have room: advice, for Slurm
/// moves no job. It can requeue one, which then begins again from its beginning or from its own
/// checkpoint: so each is taken to lose all that it has done since it started.
///
/// A job stays that Slurm may not requeue, or that may not lie on every node of its virtual
/// cluster: it names nodes, features or a reservation, its partition has others, it is a part of a
/// heterogeneous job. For such a job no room is made either, nor for one that asks more nodes than
/// its GPUs need. Nodes on which a job holds GPUs beside those of another virtual cluster are left
/// alone.
#pragma once

#include <span>

#include "sim/compactions.h"
#include "slurm/job.h"
#include "steer/mirror.h"
#include "steer/world.h"

namespace almanac::steer {

/// For the jobs of `queue`, in that order. Cost: O(jobs and nodes), and the search
/// (sim::advise_moves).
sim::Compactions compactions_of(const Mirror& mirror, const World& world,
                                std::span<const slurm::JobNumber> queue);

}  // namespace almanac::steer
