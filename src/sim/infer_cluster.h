// SPDX-License-Identifier: Apache-2.0

/// \file
/// Guesses the cluster that a job log came from, when it is not said.
#pragma once

#include "base/result.h"
#include "cluster/cluster.h"
#include "trace/trace.h"

namespace almanac::sim {

/// A cluster on which `trace` can run; its notes say what was assumed.
///
/// The machine that the log's header gives (Trace::machine), where its jobs name no several virtual
/// clusters. Else:
///
/// GPUs per node: the most that a job had on one node; 8 when the log has no nodes. Virtual
/// clusters: those that jobs name, if at least half of the jobs name one; else a single one. Size
/// of each: the most GPUs that ran at once, where the log has start times; else so many that every
/// job could start when it is submitted, 90 % of the time; always enough for its largest job. Fails
/// with invalid when no job asks a GPU.
Result<cluster::Cluster> infer_cluster(const trace::Trace& trace);

}  // namespace almanac::sim
