// SPDX-License-Identifier: Apache-2.0

/// \file
/// Places CPU jobs under every placement without a rule of its own: where the fewest GPUs are free,
/// so that they take cores which GPUs will need only last.
#pragma once

#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy::placement {

/// Returns a node with the fewest free GPUs that has room for a task of `demand`, the first by kind
/// and then by number, or kNoNode.
inline NodeId fewest_gpus(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand) {
  for (int free = 0; free <= cluster::kMaxGpusPerNode; ++free) {
    bool more = false;
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      if (free > pool.gpus_per_node || !pool.suits(demand)) continue;
      more = true;
      if (const NodeId node = pool.find(free, demand.of(1)); node != kNoNode) return node;
    }
    if (!more) break;
  }
  return kNoNode;
}

/// Places the tasks of a CPU job; several may share a node. Returns false if it changed nothing.
inline bool place_tasks(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
                        std::vector<cluster::Grant>& grants) {
  const std::size_t before = ledger.mark();
  const std::size_t had = grants.size();
  for (int task = 0; task < demand.tasks; ++task) {
    const NodeId node = fewest_gpus(ledger, vc, demand);
    if (node == kNoNode) {
      ledger.undo(before);
      grants.resize(had);
      return false;
    }
    const cluster::Grant taken = ledger.take(node, demand.of(1));
    if (grants.size() > had && grants.back().node == node) {
      grants.back().cpu_milli += taken.cpu_milli;
      grants.back().memory_mb += taken.memory_mb;
    } else {
      grants.push_back(taken);
    }
  }
  return true;
}

}  // namespace almanac::policy::placement
