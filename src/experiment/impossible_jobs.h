// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that by the log held more of a node than the cluster says that it has.
#pragma once

#include "cluster/cluster.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// Notes in `cluster` how many jobs held more GPUs of a named node than it has, the first of them
/// by name, and how many ran on nodes that the cluster does not have. Does nothing where the log or
/// the cluster has no names of nodes.
void note_impossible_jobs(cluster::Cluster& cluster, const trace::Trace& trace);

}  // namespace almanac::experiment
