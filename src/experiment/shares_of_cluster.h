// SPDX-License-Identifier: Apache-2.0

/// \file
/// The part of a GPU of jobs with shards or MPS, if the cluster gives the number of parts per GPU.
#pragma once

#include "cluster/cluster.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// Sets the GPUs of jobs with gres/shard or gres/mps from the shards_per_gpu and mps_per_gpu of
/// nodes: of the node that the job ran on, otherwise of nodes with its type, otherwise of most
/// nodes. Adds a note to `cluster` with the number of jobs. Does nothing if the cluster gives
/// neither.
void share_gpus_by(cluster::Cluster& cluster, trace::Trace& trace);

}  // namespace almanac::experiment
