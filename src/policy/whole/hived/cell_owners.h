// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which tenants own which cells of a cluster.
///
/// A tenant owns the cells that the cluster file gives it (cluster/cell_plan.h); jobs of tenants
/// below it without cells use them too. If the file names no cells, each tenant without tenants
/// below it owns the fraction of each kind of node that its guarantee is of all GPUs, in the
/// largest cells possible. Guarantees that exceed the cluster are all scaled down.
///
/// Source   Zhao et al., OSDI'20 (HiveD), section 3.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "policy/whole/hived/cell_site.h"

namespace almanac::policy {

struct CellOwners {
  /// Requires that the cluster has the cells that its tenants own; the reader of its file checks
  /// that.
  explicit CellOwners(const cluster::Cluster& cluster);

  std::vector<CellOwner> owners{};  ///< Owner whose cells the jobs of each tenant use.
  std::vector<CellSite> sites{};    ///< By virtual cluster.
};

}  // namespace almanac::policy
