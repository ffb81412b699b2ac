// SPDX-License-Identifier: Apache-2.0

/// \file
/// The proportional share of a GPU in its node.
#pragma once

#include "cluster/amount.h"
#include "cluster/cluster.h"

namespace almanac::policy::size {

/// Returns the cores and memory that come with a GPU of `vc`: the least over its nodes with GPUs,
/// so that the share fits on any of them. Cores or memory that its nodes do not state are 0.
/// O(nodes).
inline cluster::Amount share_of_gpu(const cluster::Cluster& cluster, VcId vc) {
  const cluster::VirtualCluster& owner = cluster.vcs[index(vc)];
  cluster::Amount share{1, cluster::kUnbounded, cluster::kUnbounded};
  for (std::uint32_t offset = 0; offset < owner.num_nodes; ++offset) {
    const cluster::Node& node = cluster.nodes[index(owner.first) + offset];
    const cluster::NodeClass& make = cluster.classes[node.node_class];
    if (make.gpus == 0) continue;
    // Rounded down: the shares of a node's GPUs are no more than the node.
    const cluster::Amount here{1, cluster::cpu_milli(make.cpus) / make.gpus,
                               cluster::memory_mb(make.memory_gb) / make.gpus};
    share = least(share, here);
  }
  return share;
}

}  // namespace almanac::policy::size
