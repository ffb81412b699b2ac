// SPDX-License-Identifier: Apache-2.0
#include "capacity/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "base/check.h"

namespace almanac::capacity {
namespace {

bool is_in(const Group& group, const cluster::Node& node) {
  return group.vc == node.vc && group.node_class == node.node_class;
}

/// Adds a switch like `rack` of the cluster, and those above it as they are.
void copy_switch(cluster::Cluster& made, const std::string& rack, const std::string& copy) {
  const auto find = [&](const std::string& path) {
    return std::find_if(made.switches.begin(), made.switches.end(),
                        [&](const cluster::Switch& each) { return each.path == path; });
  };
  const auto known = find(rack);
  if (known == made.switches.end() || find(copy) != made.switches.end()) return;
  made.switches.push_back({.path = copy, .uplink_gbps = known->uplink_gbps});
}

}  // namespace

std::vector<Group> groups_of(const cluster::Cluster& cluster) {
  std::vector<Group> groups;
  for (const cluster::Node& node : cluster.nodes) {
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return is_in(group, node); });
    if (found != groups.end()) {
      ++found->nodes;
    } else {
      groups.push_back({.vc = node.vc, .node_class = node.node_class, .nodes = 1});
    }
  }
  return groups;
}

std::vector<int> split(std::span<const Group> groups, std::span<const int> least, int total) {
  ALMANAC_CHECK(!groups.empty() && groups.size() == least.size(), "{} groups", groups.size());
  std::vector<int> made(least.begin(), least.end());
  for (int given = std::accumulate(made.begin(), made.end(), 0); given < total; ++given) {
    std::size_t best = 0;
    for (std::size_t at = 1; at < groups.size(); ++at) {
      // nodes / (2 made + 1), compared without rounding
      const auto claim = static_cast<std::int64_t>(groups[at].nodes) * (2 * made[best] + 1);
      const auto other = static_cast<std::int64_t>(groups[best].nodes) * (2 * made[at] + 1);
      if (claim > other) best = at;
    }
    ++made[best];
  }
  return made;
}

cluster::Cluster resized(const cluster::Cluster& cluster, std::span<const int> nodes) {
  const std::vector<Group> groups = groups_of(cluster);
  ALMANAC_CHECK(nodes.size() == groups.size(), "{} numbers for {} groups", nodes.size(),
                groups.size());
  cluster::Cluster made = cluster;
  made.nodes.clear();
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    cluster::VirtualCluster& owner = made.vcs[vc];
    owner.first = NodeId{static_cast<std::uint32_t>(made.nodes.size())};
    std::vector<std::vector<cluster::Node>> of_group(groups.size());
    const std::size_t first = index(cluster.vcs[vc].first);
    for (std::size_t at = first; at < first + cluster.vcs[vc].num_nodes; ++at) {
      const cluster::Node& node = cluster.nodes[at];
      const auto group = static_cast<std::size_t>(
          std::find_if(groups.begin(), groups.end(),
                       [&](const Group& each) { return is_in(each, node); }) -
          groups.begin());
      std::vector<cluster::Node>& before = of_group[group];
      const auto place = static_cast<std::int64_t>(before.size());
      before.push_back(node);
      // Keeps `wanted` of `has` nodes, evenly spread.
      const std::int64_t has = groups[group].nodes;
      const std::int64_t wanted = std::min<std::int64_t>(nodes[group], has);
      if ((place + 1) * wanted / has > place * wanted / has) made.nodes.push_back(node);
    }
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const std::vector<cluster::Node>& originals = of_group[group];
      for (int copy = static_cast<int>(originals.size()); !originals.empty() && copy < nodes[group];
           ++copy) {
        const auto at = static_cast<std::size_t>(copy);
        cluster::Node node = originals[at % originals.size()];
        const std::string suffix = fmt::format("+{}", at / originals.size());
        if (!node.name.empty()) node.name += suffix;
        if (!node.rack.empty()) {
          copy_switch(made, node.rack, node.rack + suffix);
          node.rack += suffix;
        }
        made.nodes.push_back(std::move(node));
      }
    }
    owner.num_nodes = static_cast<std::uint32_t>(made.nodes.size() - index(owner.first));
  }
  for (cluster::CapacityChange& change : made.changes) {
    const double factor = static_cast<double>(made.vcs[index(change.vc)].num_nodes) /
                          std::max(1U, cluster.vcs[index(change.vc)].num_nodes);
    const auto scaled = static_cast<int>(std::lround(change.nodes * factor));
    change.nodes = change.nodes > 0 ? std::max(1, scaled) : 0;
  }
  return made;
}

}  // namespace almanac::capacity
