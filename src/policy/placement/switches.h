// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds nodes behind one switch for a job of several whole nodes. The fewer switches are between
/// nodes, the faster they communicate.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "cluster/ledger.h"
#include "policy/contract/host.h"

namespace almanac::policy::placement {

/// Returns `count` nodes of `pool` behind one switch that are wholly free and have room for
/// `whole`, which is all that the job has on each node. Chooses the lowest level with enough such
/// nodes, then the switch with the fewest, then the first by name. Nodes that must boot first do
/// not count (Host::is_on), because a boot takes longer. Returns nothing if no switch has enough,
/// or none is known.
///
/// Cost     O(idle nodes of the pool) per level of switches; none if no switches are known
inline std::vector<NodeId> idle_behind_one_switch(const cluster::Ledger& ledger,
                                                  const cluster::Pool& pool, std::size_t count,
                                                  const cluster::Amount& whole, const IsOn& is_on) {
  if (count < 2) return {};
  const cluster::NodeSet& nodes = pool.by_free[static_cast<std::size_t>(pool.gpus_per_node)];
  for (const std::vector<std::uint32_t>& level : pool.switches) {
    std::map<std::uint32_t, std::vector<NodeId>> idle;
    for (std::uint32_t member = nodes.first(); member != cluster::NodeSet::kNone;
         member = nodes.next(member)) {
      const NodeId node = pool.nodes[member];
      if (level[member] == cluster::kNoSwitch || !ledger.room(node).covers(whole)) continue;
      if (!is_on || is_on(node)) idle[level[member]].push_back(node);
    }
    std::vector<NodeId>* best = nullptr;
    for (auto& [which, found] : idle) {
      if (found.size() >= count && (best == nullptr || found.size() < best->size())) best = &found;
    }
    if (best == nullptr) continue;
    best->resize(count);
    return std::move(*best);
  }
  return {};
}

}  // namespace almanac::policy::placement
