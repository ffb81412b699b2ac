// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/link_map.h"

#include <algorithm>
#include <map>
#include <string>

namespace almanac::policy {

LinkMap::LinkMap(const cluster::Cluster& cluster) {
  if (!cluster.has_links()) return;
  std::map<std::string, std::uint32_t> switches;
  const auto add = [&](double gbps) {
    gbps_.push_back(gbps);
    return static_cast<std::uint32_t>(gbps_.size() - 1);
  };
  for (const cluster::Switch& each : cluster.switches) switches[each.path] = add(each.uplink_gbps);
  for (const cluster::Node& node : cluster.nodes) {
    const double gbps = cluster.classes[node.node_class].uplink_gbps;
    of_node_.push_back(gbps > 0 ? add(gbps) : kNone);
    above_.emplace_back();
    if (switches.empty()) continue;
    for (const std::string& path : cluster::switches_above(node)) {
      if (const auto found = switches.find(path); found != switches.end()) {
        above_.back().push_back(found->second);
      }
    }
  }
}

bool LinkMap::is_above(std::uint32_t link, NodeId node) const {
  const std::vector<std::uint32_t>& above = above_[index(node)];
  return of_node_[index(node)] == link ||
         std::find(above.begin(), above.end(), link) != above.end();
}

std::vector<std::uint32_t> LinkMap::links(std::span<const cluster::Grant> grants) const {
  if (gbps_.empty()) return {};
  std::vector<NodeId> nodes;
  for (const cluster::Grant& grant : grants) nodes.push_back(grant.node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.size() < 2) return {};
  std::vector<std::uint32_t> found;
  std::map<std::uint32_t, std::size_t> below;
  for (const NodeId node : nodes) {
    if (of_node_[index(node)] != kNone) found.push_back(of_node_[index(node)]);
    for (const std::uint32_t link : above_[index(node)]) ++below[link];
  }
  for (const auto& [link, count] : below) {
    if (count < nodes.size()) found.push_back(link);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace almanac::policy
