// SPDX-License-Identifier: Apache-2.0

/// \file
/// Placements that spread a job over whatever is free differ only in which node comes next.
#pragma once

#include <algorithm>
#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy::placement {

/// Fills `demand` from nodes of one pool, all that fits on a node before the next, in the order in
/// which `next_node(pool, unit)` names them: one with room for a unit, or kNoNode. False = changed
/// nothing. Since a node that was used up has no room, "the fullest" or "the first" needs no
/// memory.
template <typename NextNode>
bool scatter(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
             std::vector<cluster::Grant>& grants, NextNode&& next_node) {
  const std::size_t before = ledger.mark();
  const std::size_t had = grants.size();
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (!pool.suits(demand) || pool.free_gpus < demand.gpus) continue;
    int left = demand.gpus;
    while (left > 0) {
      const NodeId node = next_node(pool, demand.of(1));
      if (node == kNoNode) break;
      grants.push_back(ledger.take(node, demand.of(std::min(left, ledger.units(node, demand)))));
      left -= grants.back().count();
    }
    if (left == 0) return true;
    ledger.undo(before);
    grants.resize(had);
  }
  return false;
}

/// The lowest-numbered node of those with the most free GPUs that have room for `unit`.
inline NodeId emptiest(const cluster::Pool& pool, const cluster::Amount& unit) {
  for (int free = pool.most_free(); free > 0; --free) {
    if (const NodeId node = pool.find(free, unit); node != kNoNode) return node;
  }
  return kNoNode;
}

/// The lowest-numbered node of those with the fewest free GPUs, but some, that have room for
/// `unit`.
inline NodeId fullest(const cluster::Pool& pool, const cluster::Amount& unit) {
  for (int free = pool.tightest(1); free > 0; free = pool.tightest(free + 1)) {
    if (const NodeId node = pool.find(free, unit); node != kNoNode) return node;
  }
  return kNoNode;
}

}  // namespace almanac::policy::placement
