// SPDX-License-Identifier: Apache-2.0

/// \file
/// Splits the nodes of each virtual cluster into parts, and finds the parts that have room for a
/// demand.
///
/// Nodes of a virtual cluster are assigned one by one, class by class, so that all parts have the
/// same number of each class, plus or minus one. Part counts are divisors of the largest count, so
/// that a part of a smaller count consists of whole parts of a larger one.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/slots.h"

namespace almanac::policy {

class NodeParts {
 public:
  /// Requires `most` >= 1. `placement` and `machines` must outlive this object.
  NodeParts(const cluster::Cluster& machines, const Placement& placement, int most);

  /// Returns the part of a node if its virtual cluster has `count` parts.
  int part_of(NodeId node, int count) const { return place_[index(node)] % count; }
  /// Returns the possible part counts, from the largest to 1.
  const std::vector<int>& counts() const { return counts_; }
  /// Returns which of `count` parts of a virtual cluster hold a job of `demand` while nothing else
  /// runs there, without the drained nodes of `ledger`. Needs one placement per part that was not
  /// asked since forget().
  const std::vector<int>& with_room(VcId vc, DemandId id, const cluster::Demand& demand, int count,
                                    const cluster::Ledger& ledger);
  /// Call after the set of drained nodes has changed.
  void forget() {
    empty_.clear();
    with_room_.clear();
  }

 private:
  const cluster::Ledger& empty(int count, int part, const cluster::Ledger& ledger);

  const cluster::Cluster& machines_;
  const Placement& placement_;
  std::vector<int> counts_;
  std::vector<int> place_;  // position of each node in the order of assignment
  std::map<std::pair<int, int>, cluster::Ledger> empty_;  // by count and part
  std::map<std::tuple<VcId, DemandId, int>, std::vector<int>> with_room_;
};

}  // namespace almanac::policy
