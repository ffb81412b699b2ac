// SPDX-License-Identifier: Apache-2.0
#include "policy/division/pop/node_parts.h"

#include <algorithm>
#include <numeric>

#include "policy/kit/placer.h"

namespace almanac::policy {

NodeParts::NodeParts(const cluster::Cluster& machines, const Placement& placement, int most)
    : machines_(machines), placement_(placement), place_(machines.nodes.size(), 0) {
  for (int count = most; count >= 1; --count) {
    if (most % count == 0) counts_.push_back(count);
  }
  for (const cluster::VirtualCluster& vc : machines.vcs) {
    std::vector<std::uint32_t> nodes(vc.num_nodes);
    std::iota(nodes.begin(), nodes.end(), static_cast<std::uint32_t>(index(vc.first)));
    std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return machines.nodes[a].node_class < machines.nodes[b].node_class;
    });
    for (std::size_t at = 0; at < nodes.size(); ++at) place_[nodes[at]] = static_cast<int>(at);
  }
}

const cluster::Ledger& NodeParts::empty(int count, int part, const cluster::Ledger& ledger) {
  const auto [made, is_new] = empty_.try_emplace({count, part}, machines_);
  if (is_new) {
    for (std::uint32_t at = 0; at < machines_.nodes.size(); ++at) {
      const NodeId node{at};
      made->second.set_drained(node, part_of(node, count) != part || ledger.drained(node));
    }
  }
  return made->second;
}

const std::vector<int>& NodeParts::with_room(VcId vc, DemandId id, const cluster::Demand& demand,
                                             int count, const cluster::Ledger& ledger) {
  const auto [made, is_new] = with_room_.try_emplace({vc, id, count});
  if (!is_new) return made->second;
  Rng any(0);
  for (int part = 0; part < count; ++part) {
    cluster::Ledger room = empty(count, part, ledger);
    std::vector<cluster::Grant> grants;
    if (place_demand(placement_, room, vc, demand, any, grants)) made->second.push_back(part);
  }
  return made->second;
}

}  // namespace almanac::policy
