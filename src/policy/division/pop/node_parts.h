// SPDX-License-Identifier: Apache-2.0

/// \file
/// Splits the nodes of each virtual cluster into parts, and says which demands find room in which.
///
/// Nodes of a virtual cluster are dealt one by one, those of one class after those of another, so
/// that each part has as many of each kind, give or take one. Numbers of parts are divisors of the
/// most that there are to be: so a part of fewer is made of whole parts of more.
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
  /// `most` is 1 or more; `placement` and `machines` outlive it.
  NodeParts(const cluster::Cluster& machines, const Placement& placement, int most);

  /// Where a node is that is of a virtual cluster in `count` parts.
  int part_of(NodeId node, int count) const { return place_[index(node)] % count; }
  /// Numbers of parts, the most first, 1 last.
  const std::vector<int>& counts() const { return counts_; }
  /// Of `count` parts of a virtual cluster those that hold a job of `demand` while nothing else
  /// runs there, drained nodes of `ledger` left out. A placement in each where it was not asked
  /// since forget().
  const std::vector<int>& with_room(VcId vc, DemandId id, const cluster::Demand& demand, int count,
                                    const cluster::Ledger& ledger);
  /// The drained nodes are others.
  void forget() {
    empty_.clear();
    with_room_.clear();
  }

 private:
  const cluster::Ledger& empty(int count, int part, const cluster::Ledger& ledger);

  const cluster::Cluster& machines_;
  const Placement& placement_;
  std::vector<int> counts_;
  std::vector<int> place_;  // of each node, in the order in which nodes are dealt
  std::map<std::pair<int, int>, cluster::Ledger> empty_;  // by count and part
  std::map<std::tuple<VcId, DemandId, int>, std::vector<int>> with_room_;
};

}  // namespace almanac::policy
