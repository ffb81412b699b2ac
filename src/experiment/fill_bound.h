// SPDX-License-Identifier: Apache-2.0

/// \file
/// An upper bound on how much of a cluster any placement can allocate.
///
/// A linear program over kinds of jobs and classes of nodes. A number of jobs of each kind is on
/// nodes of each class, no more than arrive, subject to:
///
/// - cores: the total of all nodes of the class
/// - GPUs: weighted by functions under which no GPU ever holds more than 1, so that two jobs of
///   0.6 never fit one GPU
/// - GPUs of a node: likewise; a node of 8 holds one job of 5 to 8 GPUs, two jobs of 4, ...
///
/// Any job may be rejected. No placement can reach more, because nodes of a class are merged,
/// memory is ignored, and jobs may be split.
///
/// Source   dual feasible functions: Fekete and Schepers, "New classes of fast lower bounds for bin
///          packing problems", 2001; the rest is ours.
/// Cost     about a second for 1,200 nodes of openb.
#pragma once

#include <span>

#include "cluster/cluster.h"
#include "cluster/ledger.h"

namespace almanac::experiment {

/// Returns the largest fraction of the GPUs of `machines` that could be allocated to the first of
/// `arrivals` that together request `demand` of them; all of them if they request less. They arrive
/// at the first virtual cluster, as for fill().
double most_given(const cluster::Cluster& machines, std::span<const cluster::Demand> arrivals,
                  double demand);

}  // namespace almanac::experiment
