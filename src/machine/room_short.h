// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says in numbers which cores or memory a waiting job lacks.
#pragma once

#include <string>

#include "cluster/ledger.h"

namespace almanac::machine {

/// Returns what `demand` needs on one node, and what is free on the node with the most room for it:
/// "needs 8 cores, 64 GB of memory; 2 cores, 100 GB of memory free on node a". Of a CPU job this is
/// one task, of a GPU job the GPUs that fit on one node. Nodes with too few free GPUs do not
/// count. Empty if nodes do not count cores and memory, or if none has enough free GPUs.
/// Cost: O(nodes).
std::string room_short(const cluster::Cluster& cluster, const cluster::Ledger& ledger, VcId vc,
                       const cluster::Demand& demand);

}  // namespace almanac::machine
