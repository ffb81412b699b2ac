// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cluster that a log tells of by the names of the nodes that each job ran on.
#pragma once

#include "experiment/infer_cluster.h"
#include "trace/held_nodes.h"

namespace almanac::experiment {

/// Whether the log names the nodes of at least half of the GPU jobs that ran.
bool names_nodes(const trace::HeldNodes& held);

/// A node for each name. Its GPUs, cores and memory are the most that jobs held of it at once, its
/// GPU type that of its jobs.
///
/// A node that hardly showed its size (reached it twice at most, or for less than a tenth of the
/// time in which jobs ran there) is taken to be as large as the next larger one of which the name
/// differs in numbers only. GPUs of several types in a node become a node for each type. Virtual
/// clusters are those that jobs name, if `by_vc`; where they share nodes they are one. Jobs without
/// nodes fit as well: where they would not, nodes without a name are added.
InferredCluster infer_named_nodes(const trace::Trace& trace, const trace::HeldNodes& held,
                                  bool by_vc);

}  // namespace almanac::experiment
