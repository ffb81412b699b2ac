// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much of a cluster could be given at the most, whatever the placement knows and however long
/// it thinks.
///
/// A linear program over kinds of jobs and classes of nodes: so many jobs of a kind lie on nodes of
/// a class, no more than arrive, and together they keep to
///
///   cores            of all nodes of the class
///   GPUs             weighed by functions under which no GPU holds more than 1 whatever lies on
///   it,
///                    so that two jobs of 0.6 never count as fitting one GPU
///   GPUs of a node   likewise: of jobs of 5 to 8 GPUs a node of 8 holds one, of 4 two ...
///
/// and any may be turned away. That is more than any placement can do: nodes of a class are taken
/// as one, memory is not asked, and parts of jobs may lie anywhere.
///
/// Source   dual feasible functions: Fekete and Schepers, "New classes of fast lower bounds for bin
///          packing problems", 2001; the rest is ours.
/// Cost     about a second for 1,200 nodes of openb.
#pragma once

#include <span>

#include "cluster/cluster.h"
#include "cluster/ledger.h"

namespace almanac::experiment {

/// Of the GPUs of `machines`, as a part, what the first of `arrivals` that together ask `demand` of
/// them could be given at the most; all of them if they ask less. They arrive at the first virtual
/// cluster, as for fill().
double most_given(const cluster::Cluster& machines, std::span<const cluster::Demand> arrivals,
                  double demand);

}  // namespace almanac::experiment
