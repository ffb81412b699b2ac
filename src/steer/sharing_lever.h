// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `sharing`: jobs that ask shards are held until the policy starts them
/// (holding_lever.h), alone on a GPU or beside the running job that it chose.
///
/// Slurm chooses the GPU, so a job is released only where it must get the right one (shards.h):
/// beside another on a node where that is the only job that has a GPU in part; with half the shards
/// of a GPU, open to a second job, where no job has a GPU in part; elsewhere with all shards of a
/// GPU, which no job can share. One with less than a whole GPU at a time on a node. A job for which
/// none of this holds waits. Where two jobs share a GPU of the node already, one of them may end
/// before the new job starts and leave it a place that was not there: so far is risked only what
/// may be requeued.
///
/// Jobs that lie on one GPU against the policy's will are told of; the last that came, if we have
/// released it, is requeued where it may be, once, and before it has run for long.
#pragma once

#include <memory>

#include "steer/lever.h"

namespace almanac::steer {

std::unique_ptr<Lever> make_sharing_lever();

}  // namespace almanac::steer
