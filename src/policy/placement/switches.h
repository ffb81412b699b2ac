// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes behind one switch for a job of several whole nodes: the fewer switches lie between them,
/// the faster they talk.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "cluster/ledger.h"
#include "policy/contract/host.h"

namespace almanac::policy::placement {

/// So many nodes of `pool` that are wholly free, have room for `whole`, all that the job has on
/// each, and lie behind one switch: the lowest that has as many, of those the one with the fewest
/// such nodes, of equals the first by name. Nodes that have to boot first do not count
/// (Host::is_on): a boot takes longer. Empty = no switch has enough, or none is told.
///
/// Cost: O(idle nodes of the pool) a level of switches; nothing where none are told.
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
