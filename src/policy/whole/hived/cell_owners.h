// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which tenants own which cells of a cluster.
///
/// A tenant owns the cells that the cluster file says of it (cluster/cell_plan.h); jobs of tenants
/// below it that say none go into them too. Where no tenant says any, one without tenants below it
/// owns, of each kind of nodes, the part that its guarantee is of all GPUs, in cells as large as
/// that gives; of guarantees that come to more than there is, all have as much less.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "policy/whole/hived/cell_site.h"

namespace almanac::policy {

struct CellOwners {
  /// The cells that a cluster's tenants own are there: the reader of its file has tried them.
  explicit CellOwners(const cluster::Cluster& cluster);

  std::vector<CellOwner> owners{};  ///< Into whose cells the jobs of each tenant go.
  std::vector<CellSite> sites{};    ///< Of each virtual cluster.
};

}  // namespace almanac::policy
