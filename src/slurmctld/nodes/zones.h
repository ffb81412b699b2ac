// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parts of the cluster that do not touch: partitions that share nodes, however indirectly, are in
/// one zone.
#pragma once

#include <cstdint>
#include <vector>

#include "slurmctld/nodes/node_bits.h"

namespace almanac::slurmctld {

/// Number of a zone.
using ZoneAt = std::uint32_t;
/// The zone of nodes that no partition has.
inline constexpr ZoneAt kNoZone = ~ZoneAt{0};

/// No job uses nodes of two zones.
class Zones {
 public:
  Zones() = default;
  /// Takes the nodes of each partition, and the size of the node table.
  Zones(const std::vector<NodeBits>& partitions, std::size_t nodes);

  /// Numbers of zones are below this; some may have no partition.
  std::size_t size() const { return of_partition_.size(); }
  ZoneAt of_partition(std::uint32_t partition) const { return of_partition_[partition]; }
  ZoneAt of_node(NodeAt node) const { return of_node_[node]; }
  /// The words of sets that have the nodes of a zone.
  const NodeBits::Extent& extent(ZoneAt zone) const { return extents_[zone]; }

 private:
  std::vector<ZoneAt> of_partition_;
  std::vector<ZoneAt> of_node_;
  std::vector<NodeBits::Extent> extents_;  // by zone
};

}  // namespace almanac::slurmctld
