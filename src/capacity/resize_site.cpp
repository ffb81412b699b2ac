// SPDX-License-Identifier: Apache-2.0
#include "capacity/resize_site.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/check.h"

namespace almanac::capacity {
namespace {

using site::NodeIndex;

/// Where the nodes of a site are in the resized site.
struct Places {
  std::vector<std::optional<NodeIndex>> own{};  // nothing: the node is gone
  std::vector<std::vector<NodeIndex>> copies{};

  std::vector<NodeIndex> of(const std::vector<NodeIndex>& nodes, bool with_copies) const {
    std::vector<NodeIndex> made;
    for (const NodeIndex node : nodes) {
      if (own[node]) made.push_back(*own[node]);
      if (with_copies) made.insert(made.end(), copies[node].begin(), copies[node].end());
    }
    std::sort(made.begin(), made.end());
    return made;
  }
};

}  // namespace

site::Site resized(const site::Site& site, const cluster::Cluster& cluster) {
  std::unordered_map<std::string_view, NodeIndex> by_name;
  for (NodeIndex at = 0; at < site.nodes.size(); ++at) by_name.emplace(site.nodes[at].name, at);
  Places places{.own = std::vector<std::optional<NodeIndex>>(site.nodes.size()),
                .copies = std::vector<std::vector<NodeIndex>>(site.nodes.size())};
  std::vector<bool> is_kept(site.nodes.size(), false);
  for (const cluster::Node& node : cluster.nodes) {
    if (const auto found = by_name.find(node.name); found != by_name.end()) {
      is_kept[found->second] = true;
    }
  }
  site::Site made = site;
  made.nodes.clear();
  for (NodeIndex at = 0; at < site.nodes.size(); ++at) {
    if (!is_kept[at]) continue;
    places.own[at] = static_cast<NodeIndex>(made.nodes.size());
    made.nodes.push_back(site.nodes[at]);
  }
  for (const cluster::Node& node : cluster.nodes) {
    if (by_name.contains(node.name)) continue;
    const std::string_view original = std::string_view(node.name).substr(0, node.name.rfind('+'));
    const auto found = by_name.find(original);
    ALMANAC_CHECK(found != by_name.end(), "the site has no node {}", original);
    places.copies[found->second].push_back(static_cast<NodeIndex>(made.nodes.size()));
    made.nodes.push_back(site.nodes[found->second]);
    made.nodes.back().name = node.name;
    made.nodes.back().state = {};
  }
  for (site::Partition& each : made.partitions) each.nodes = places.of(each.nodes, true);
  for (site::Switch& each : made.switches) each.nodes = places.of(each.nodes, true);
  for (site::Reservation& each : made.reservations) each.nodes = places.of(each.nodes, false);
  std::erase_if(made.node_events,
                [&](const site::NodeEvent& each) { return !places.own[each.node]; });
  for (site::NodeEvent& each : made.node_events) each.node = *places.own[each.node];
  return made;
}

}  // namespace almanac::capacity
