// SPDX-License-Identifier: Apache-2.0

/// \file
/// What part of a GPU jobs hold that Slurm gave shards (gres/shard) or MPS (gres/mps): it counts
/// parts, and how many a GPU has only its configuration says.
#pragma once

#include <cstdint>
#include <functional>

#include "trace/trace.h"

namespace almanac::trace {

/// Parts that a GPU is divided in; 0 = not known.
struct PartsPerGpu {
  int shards = 0;
  int mps = 0;
};

/// Gives each job that holds shards or MPS and no whole GPU its GPUs: a part of one, or as many as
/// its parts are, rounded up. `parts` says how many a GPU has where the job ran; where it does not,
/// the job is left as it is. Gives how many were given GPUs.
std::int64_t share_gpus(Trace& trace, const std::function<PartsPerGpu(const Job&)>& parts);

/// The same by what the log tells, with notes of how: jobs that hold whole GPUs and their shards
/// say how many a GPU has. Else a GPU is taken to have as many shards as were ever held at once on
/// one node, the most that it can have if the node has one, so that each job holds the least that
/// it may; without names of nodes as many as the largest job. Of MPS a GPU has 100 (gres.conf(5)).
void share_gpus(Trace& trace);

}  // namespace almanac::trace
