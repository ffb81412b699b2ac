// SPDX-License-Identifier: Apache-2.0
#include "steer/by_switch.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>

namespace almanac::steer {
namespace {

using cluster::Grant;

const cluster::Node& node_of(const cluster::Cluster& cluster, NodeId id) {
  return cluster.nodes[index(id)];
}

/// Whether each of a job's nodes is as good as another of its make: the job has all GPUs of each,
/// and as much of the rest.
bool are_alike(const std::vector<Grant>& held, const cluster::Cluster& cluster) {
  const Grant& first = held.front();
  if (first.count() != cluster.gpus(first.node)) return false;
  return std::all_of(held.begin(), held.end(), [&](const Grant& each) {
    return each.gpus == first.gpus && each.cpu_milli == first.cpu_milli &&
           each.memory_mb == first.memory_mb &&
           node_of(cluster, each.node).node_class == node_of(cluster, first.node).node_class;
  });
}

bool is_on_one_switch(const std::vector<Grant>& held, const cluster::Cluster& cluster) {
  return std::all_of(held.begin(), held.end(), [&](const Grant& each) {
    return node_of(cluster, each.node).rack == node_of(cluster, held.front().node).rack;
  });
}

}  // namespace

void gather_by_switch(std::vector<Decision::Start>& starts, const cluster::Cluster& cluster,
                      const cluster::Ledger& ledger, const std::function<bool(NodeId)>& is_on) {
  std::set<NodeId> given;  // to jobs that were moved there
  for (Decision::Start& start : starts) {
    if (start.held.size() < 2 || !are_alike(start.held, cluster)) continue;
    if (is_on_one_switch(start.held, cluster)) continue;
    std::set<NodeId> own;
    for (const Grant& each : start.held) own.insert(each.node);
    const cluster::Node& some = node_of(cluster, start.held.front().node);
    const cluster::VirtualCluster& vc = cluster.vcs[index(some.vc)];
    std::map<std::string, std::vector<NodeId>> free;
    for (std::uint32_t at = 0; at < vc.num_nodes; ++at) {
      const NodeId id{static_cast<std::uint32_t>(index(vc.first)) + at};
      const cluster::Node& node = node_of(cluster, id);
      if (node.rack.empty() || node.node_class != some.node_class || given.contains(id)) continue;
      if (!is_on(id)) continue;
      // The others stay as full as they were: only one that is wholly free takes the place.
      const bool is_idle = std::popcount(ledger.free_mask(id)) == cluster.gpus(id) &&
                           ledger.room(id).covers(start.held.front().amount());
      if (is_idle || own.contains(id)) free[node.rack].push_back(id);
    }
    const std::vector<NodeId>* best = nullptr;
    for (const auto& [name, nodes] : free) {
      if (nodes.size() < start.held.size()) continue;
      if (best == nullptr || nodes.size() < best->size()) best = &nodes;
    }
    if (best == nullptr) continue;
    for (std::size_t at = 0; at < start.held.size(); ++at) {
      start.held[at].node = (*best)[at];
      given.insert((*best)[at]);
    }
  }
}

}  // namespace almanac::steer
