// SPDX-License-Identifier: Apache-2.0

/// \file
/// Advises which running jobs to move so that waiting jobs fit. The manager cannot move a job; it
/// can requeue one, which then starts again or from its own checkpoint. So each move is charged all
/// the work since the start of the job.
///
/// A job stays if the manager may not requeue it, or if it cannot run on every node of its virtual
/// cluster: it names nodes, features or a reservation, its partition has other nodes, or it is part
/// of a heterogeneous job. Room is made for such jobs neither, nor for jobs that request more nodes
/// than their GPUs need. Nodes with a job that spans virtual clusters are ignored.
#pragma once

#include <span>

#include "manager/job.h"
#include "sim/compactions.h"
#include "steer/mirror.h"
#include "steer/world.h"

namespace almanac::steer {

/// For the jobs of `queue`, in that order. Cost: O(jobs and nodes), and the search
/// (sim::advise_moves).
sim::Compactions compactions_of(const Mirror& mirror, const World& world,
                                std::span<const manager::JobNumber> queue);

}  // namespace almanac::steer
