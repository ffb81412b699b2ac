// SPDX-License-Identifier: Apache-2.0

/// \file
/// The part of a GPU of jobs with shards (gres/shard) or MPS (gres/mps). Slurm counts parts; only
/// its configuration says how many a GPU has.
#pragma once

#include <cstdint>
#include <functional>

#include "trace/trace.h"

namespace almanac::trace {

/// Number of parts per GPU; 0 for unknown.
struct PartsPerGpu {
  int shards = 0;
  int mps = 0;
};

/// Converts the shards or MPS of each job without a whole GPU to GPUs: a part of one, or the number
/// of GPUs that its parts add up to, rounded up. `parts` returns the parts per GPU where the job
/// ran; jobs for which it is unknown are unchanged. Returns the number of jobs changed.
std::int64_t share_gpus(Trace& trace, const std::function<PartsPerGpu(const Job&)>& parts);

/// Same from the log alone, with notes on the method. Jobs that hold whole GPUs and their shards
/// show the shards per GPU. Otherwise a GPU counts as having the most shards ever held at once on
/// one node (exact for nodes with one GPU), so that no job gets too large a part; without node
/// names, as many as the largest job. A GPU has 100 MPS (gres.conf(5)).
void share_gpus(Trace& trace);

}  // namespace almanac::trace
