// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/hived/cell_owners.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "cluster/cell_plan.h"

namespace almanac::policy {
namespace {

using cluster::Cluster;
using cluster::OwnedCells;
using cluster::Tenant;

/// Returns for each tenant whether it owns cells.
std::vector<bool> who_owns(const Cluster& cluster, bool says_cells) {
  std::vector<bool> owns(cluster.tenants.size(), !says_cells);
  for (std::size_t at = 0; at < owns.size(); ++at) {
    const Tenant& tenant = cluster.tenants[at];
    if (says_cells) {
      owns[at] = !tenant.cells.empty();
    } else if (tenant.parent >= 0) {
      owns[static_cast<std::size_t>(tenant.parent)] = false;
    }
  }
  return owns;
}

void own_cells(cluster::CellPlan& plan, VcId vc, const Tenant& tenant) {
  for (const OwnedCells& cells : tenant.cells) {
    if (cells.vc != vc) continue;
    const Result<void> owned = plan.own(tenant.name, cells);
    ALMANAC_CHECK(owned, "{}", owned.error().message);
  }
}

}  // namespace

CellOwners::CellOwners(const Cluster& cluster) {
  const bool says_cells = std::any_of(cluster.tenants.begin(), cluster.tenants.end(),
                                      [](const Tenant& each) { return !each.cells.empty(); });
  const std::vector<bool> owns = who_owns(cluster, says_cells);
  std::vector<std::string> names;
  double owed = 0;
  for (std::size_t at = 0; at < cluster.tenants.size(); ++at) {
    const Tenant& tenant = cluster.tenants[at];
    CellOwner& made = owners.emplace_back();
    if (owns[at]) {
      made.name = tenant.name;
      for (const OwnedCells& cells : tenant.cells) {
        if (!cells.pinned.empty()) made.pinned.push_back(cluster::pinned_name(cells));
      }
      names.push_back(tenant.name);
      owed += tenant.guarantee;
    } else if (says_cells && tenant.parent >= 0) {
      made = owners[static_cast<std::size_t>(tenant.parent)];
    }
    made.priority = tenant.priority;
  }
  owed = std::max({1.0, owed, static_cast<double>(cluster.gpus())});
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    cluster::CellPlan plan(cluster, VcId{vc});
    for (std::size_t at = 0; at < cluster.tenants.size(); ++at) {
      const Tenant& tenant = cluster.tenants[at];
      if (says_cells) own_cells(plan, VcId{vc}, tenant);
      if (says_cells || !owns[at]) continue;
      for (const cluster::CellChain& chain : plan.chains()) {
        // Its part is rounded, and must not lose a GPU by that.
        plan.own(tenant.name, chain, static_cast<int>(tenant.guarantee / owed * chain.gpus + 1e-6));
      }
    }
    sites.emplace_back(std::move(plan), names, cluster);
  }
}

}  // namespace almanac::policy
