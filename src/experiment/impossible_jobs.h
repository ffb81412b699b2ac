// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that by the log held more of a node than the cluster says that it has.
#pragma once

#include "cluster/cluster.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// Adds notes to `cluster` on jobs that held more GPUs of a named node than it has (the first ones
/// by name), and on jobs on nodes that the cluster lacks. Does nothing if log or cluster has no
/// node names.
void note_impossible_jobs(cluster::Cluster& cluster, const trace::Trace& trace);

}  // namespace almanac::experiment
