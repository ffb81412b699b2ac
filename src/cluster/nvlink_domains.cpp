// SPDX-License-Identifier: Apache-2.0
#include "cluster/nvlink_domains.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace almanac::cluster {

std::vector<NodeId> nvlink_domains(const Cluster& cluster) {
  const bool has_racks =
      std::any_of(cluster.classes.begin(), cluster.classes.end(),
                  [](const NodeClass& make) { return make.nvlink_domain == NvlinkDomain::rack; });
  if (!has_racks) return {};
  std::vector<NodeId> made;
  std::map<std::string_view, NodeId> first_of;
  for (const Node& node : cluster.nodes) {
    const NodeId own{static_cast<std::uint32_t>(made.size())};
    const bool is_rack =
        cluster.classes[node.node_class].nvlink_domain == NvlinkDomain::rack && !node.rack.empty();
    made.push_back(is_rack ? first_of.try_emplace(node.rack, own).first->second : own);
  }
  return made;
}

}  // namespace almanac::cluster
