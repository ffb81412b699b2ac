// SPDX-License-Identifier: Apache-2.0
#include "cluster/capacity.h"

#include <algorithm>
#include <vector>

namespace almanac::cluster {

Capacity most_at_once(const Cluster& cluster) {
  Capacity now{.nodes = static_cast<int>(cluster.nodes.size()), .gpus = cluster.gpus()};
  std::vector<int> size;
  for (const VirtualCluster& vc : cluster.vcs) size.push_back(static_cast<int>(vc.num_nodes));
  if (cluster.changes.empty()) return now;
  Capacity most = cluster.changes.front().at > Time::min() ? now : Capacity{};
  for (std::size_t at = 0; at < cluster.changes.size(); ++at) {
    const CapacityChange& change = cluster.changes[at];
    const int more = change.nodes - size[index(change.vc)];
    size[index(change.vc)] = change.nodes;
    now.nodes += more;
    // A virtual cluster that changes has nodes of one make.
    now.gpus += more * cluster.gpus(cluster.vcs[index(change.vc)].first);
    const bool is_last =
        at + 1 == cluster.changes.size() || cluster.changes[at + 1].at != change.at;
    if (!is_last) continue;
    most = {std::max(most.nodes, now.nodes), std::max(most.gpus, now.gpus)};
  }
  return most;
}

}  // namespace almanac::cluster
