// SPDX-License-Identifier: Apache-2.0

/// \file
/// Spreads a job over any free GPUs. Placements that do so differ only in which node comes next.
#pragma once

#include <algorithm>
#include <vector>

#include "policy/kit/kinds.h"

namespace almanac::policy::placement {

/// Fills `demand` from nodes of one kind, or else of several: as much as fits on a node before the
/// next, in the order of `next_node(kinds, unit)`, which returns a node with room for a unit or
/// kNoNode. Returns false if it changed nothing. A used-up node has no room, so "the fullest" or
/// "the first" need no memory.
template <typename NextNode>
bool scatter(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
             std::vector<cluster::Grant>& grants, NextNode&& next_node) {
  const std::size_t before = ledger.mark();
  const std::size_t had = grants.size();
  return by_kind(ledger.pools(vc), demand, [&](Kinds kinds) {
    if (free_gpus(kinds) < demand.gpus) return false;
    int left = demand.gpus;
    while (left > 0) {
      const NodeId node = next_node(kinds, demand.of(1));
      if (node == kNoNode) break;
      grants.push_back(ledger.take(node, demand.of(std::min(left, ledger.units(node, demand)))));
      left -= grants.back().count();
    }
    if (left == 0) return true;
    ledger.undo(before);
    grants.resize(had);
    return false;
  });
}

/// Returns the lowest-numbered node among those with the most free GPUs that have room for `unit`.
inline NodeId emptiest(Kinds kinds, const cluster::Amount& unit) {
  NodeId best = kNoNode;
  int most = 0;
  for (const cluster::Pool* const pool : kinds) {
    for (int free = pool->most_free(); free > 0 && free >= most; --free) {
      const NodeId node = pool->find(free, unit);
      if (node == kNoNode) continue;
      if (free > most || node < best) best = node;
      most = free;
      break;
    }
  }
  return best;
}

/// Returns the lowest-numbered node among those with the fewest free GPUs, at least one, that have
/// room for `unit`.
inline NodeId fullest(Kinds kinds, const cluster::Amount& unit) {
  NodeId best = kNoNode;
  int least = cluster::kMaxGpusPerNode;
  for (const cluster::Pool* const pool : kinds) {
    for (int free = pool->tightest(1); free > 0 && free <= least; free = pool->tightest(free + 1)) {
      const NodeId node = pool->find(free, unit);
      if (node == kNoNode) continue;
      if (free < least || node < best) best = node;
      least = free;
      break;
    }
  }
  return best;
}

}  // namespace almanac::policy::placement
