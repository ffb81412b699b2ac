// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cluster of a log that names the nodes of each job.
#pragma once

#include "experiment/infer_cluster.h"
#include "trace/held_nodes.h"

namespace almanac::experiment {

/// Whether the log names the nodes of at least half of the GPU jobs that ran.
bool names_nodes(const trace::HeldNodes& held);

/// Returns a node for each name. Its GPUs, cores and memory are the most that jobs held on it at
/// once; its GPU type is that of its jobs.
///
/// A node that rarely reached its size (at most twice, or for less than a tenth of its busy time)
/// counts as large as the next larger one whose name differs only in numbers. Several GPU types in
/// a node become a node for each type. Virtual clusters are those that jobs name, if `by_vc`; those
/// that share nodes are merged. Jobs without nodes must fit as well; if needed, nodes without a
/// name are added.
InferredCluster infer_named_nodes(const trace::Trace& trace, const trace::HeldNodes& held,
                                  bool by_vc);

}  // namespace almanac::experiment
