// SPDX-License-Identifier: Apache-2.0

/// \file
/// Placements that spread a job over whatever is free differ only in which node comes next.
#pragma once

#include <algorithm>
#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy::placement {

/// Fills `demand` from nodes of one pool, all free GPUs of a node before the next, in the order in
/// which `next_node(pool)` names them; false = changed nothing. The node named must have free GPUs.
/// Since a node that was used up is no longer free, "the fullest" or "the first" needs no memory.
template <typename NextNode>
bool scatter(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
             std::vector<cluster::Grant>& grants, NextNode&& next_node) {
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (!pool.suits(demand) || pool.free_gpus < demand.gpus) continue;
    for (int left = demand.gpus; left > 0; left -= grants.back().count()) {
      const NodeId node = next_node(pool);
      grants.push_back(ledger.take(node, std::min(left, ledger.free_on(node))));
    }
    return true;
  }
  return false;
}

/// The lowest-numbered node of those with the most free GPUs.
inline NodeId emptiest(const cluster::Pool& pool) { return pool.lowest(pool.most_free()); }

/// The lowest-numbered node of those with the fewest free GPUs, but some.
inline NodeId fullest(const cluster::Pool& pool) { return pool.lowest(pool.tightest(1)); }

}  // namespace almanac::policy::placement
