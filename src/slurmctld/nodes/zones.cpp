// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/zones.h"

#include <algorithm>

namespace almanac::slurmctld {

Zones::Zones(const std::vector<NodeBits>& partitions, std::size_t nodes)
    : of_partition_(partitions.size()), of_node_(nodes, kNoZone) {
  for (ZoneAt at = 0; at < partitions.size(); ++at) {
    of_partition_[at] = at;
    partitions[at].each([&](NodeAt node) {
      const ZoneAt other = of_node_[node];
      of_node_[node] = at;
      if (other == kNoZone || other == at) return;
      std::replace(of_partition_.begin(), of_partition_.end(), other, at);
      std::replace(of_node_.begin(), of_node_.end(), other, at);
    });
  }
  std::vector<NodeBits> zones(partitions.size(), NodeBits(nodes));
  for (std::size_t at = 0; at < partitions.size(); ++at) zones[of_partition_[at]] |= partitions[at];
  for (const NodeBits& each : zones) extents_.push_back(each.extent());
}

}  // namespace almanac::slurmctld
