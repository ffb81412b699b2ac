// SPDX-License-Identifier: Apache-2.0

/// \file
/// What part of a GPU jobs with shards or MPS hold, where the cluster says how many a GPU has.
#pragma once

#include "cluster/cluster.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// Sets the GPUs of jobs that hold gres/shard or gres/mps by the shards_per_gpu and mps_per_gpu of
/// the nodes: of the one that the job ran on, else of those of its type, else of the most. Notes in
/// `cluster` how many. Does nothing where the cluster says neither.
void share_gpus_by(cluster::Cluster& cluster, trace::Trace& trace);

}  // namespace almanac::experiment
