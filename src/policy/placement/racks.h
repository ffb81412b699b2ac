// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes of one rack for a job of several whole nodes: what is behind one switch talks faster.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "cluster/ledger.h"
#include "policy/contract/host.h"

namespace almanac::policy::placement {

/// So many nodes of `pool` that are wholly free, have room for `whole`, all that the job has on
/// each, and lie in one rack: in the rack with the fewest such nodes that has enough, of equals the
/// first by name. Nodes that have to boot first do not count (Host::is_on): a boot takes longer.
/// Empty = no rack has enough, or none is told.
///
/// Cost: O(idle nodes of the pool) where racks are told.
inline std::vector<NodeId> idle_in_one_rack(const cluster::Ledger& ledger,
                                            const cluster::Pool& pool, std::size_t count,
                                            const cluster::Amount& whole, const IsOn& is_on) {
  if (pool.racks.empty() || count < 2) return {};
  std::map<std::uint32_t, std::vector<NodeId>> idle;
  const cluster::NodeSet& nodes = pool.by_free[static_cast<std::size_t>(pool.gpus_per_node)];
  for (std::uint32_t member = nodes.first(); member != cluster::NodeSet::kNone;
       member = nodes.next(member)) {
    const NodeId node = pool.nodes[member];
    if (pool.racks[member] == cluster::kNoRack || !ledger.room(node).covers(whole)) continue;
    if (!is_on || is_on(node)) idle[pool.racks[member]].push_back(node);
  }
  std::vector<NodeId>* best = nullptr;
  for (auto& [rack, found] : idle) {
    if (found.size() >= count && (best == nullptr || found.size() < best->size())) best = &found;
  }
  if (best == nullptr) return {};
  best->resize(count);
  return std::move(*best);
}

}  // namespace almanac::policy::placement
