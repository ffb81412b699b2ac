// SPDX-License-Identifier: Apache-2.0

/// \file
/// A cluster with a different number of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "cluster/cluster.h"

namespace almanac::capacity {

/// The nodes of one class in one virtual cluster.
struct Group {
  VcId vc{};
  std::uint32_t node_class = 0;  ///< Position in Cluster::classes.
  int nodes = 0;
};

/// Returns the groups of a cluster, by virtual cluster, then in order of their first nodes.
std::vector<Group> groups_of(const cluster::Cluster& cluster);

/// Distributes `total` nodes over groups in proportion to their sizes today, but gives each at
/// least its number in `least`, even if that makes more than `total`. Today's total gives today's
/// sizes, and no group shrinks as the total grows.
///
/// Source   Webster's method of apportionment.
std::vector<int> split(std::span<const Group> groups, std::span<const int> least, int total);

/// Returns the cluster with `nodes` nodes of each group (of groups_of(cluster)). A smaller group
/// keeps nodes from all over it, so that racks shrink evenly. A larger group gets copies of its
/// nodes, in new racks of the same sizes with the same uplinks; their names end in "+1", "+2".
/// Changes of capacity are scaled with their virtual cluster. All else is kept.
cluster::Cluster resized(const cluster::Cluster& cluster, std::span<const int> nodes);

}  // namespace almanac::capacity
