// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fair tree: ranks users by walking the tree of associations, the least served first.
///
/// Source   Slurm 22.05 to 25.11, fair_tree.c.
/// Differs  from the documentation, as Slurm's code does: the children of accounts that tie are not
///          merged. The first child of the second account takes the rank of the last user before
///          it.
#pragma once

#include <vector>

#include "slurmctld/priority/association_tree.h"
#include "slurmctld/priority/usage.h"

namespace almanac::slurmctld {

/// What fair share derives from the usage of an association.
struct Standing {
  /// Share of the cluster's usage, at most 1.
  long double usage_share = 0;
  /// Fair tree: share of the usage of its fair_parent(). Classic: the effective usage.
  long double effective_usage = 0;
  /// Fair tree: share of the level over share of its usage; infinite without usage.
  long double level_fs = 0;
  double factor = 0;  ///< Fair-share factor, 0 to 1. Fair tree: of users only.
};

/// Returns the usage of `at` over that of all, at most 1; 0 without any usage.
long double usage_share(const UsageLedger& usage, AssociationAt at);

/// A step of the walk through the tree.
struct FairTreeStep {
  AssociationAt association = kNowhere;
  std::uint16_t depth = 1;  ///< 1 = below the root.
  bool is_tied = false;     ///< Its level_fs is that of the one before.
};

/// Sets the standing of all associations. Returns the walk.
/// Cost: O(n log n) in associations.
std::vector<FairTreeStep> rank_fair_tree(const AssociationTree& tree, const UsageLedger& usage,
                                         std::vector<Standing>& standings);

}  // namespace almanac::slurmctld
