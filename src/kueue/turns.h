// SPDX-License-Identifier: Apache-2.0

/// \file
/// The queue that gives up a workload next under fair sharing: the one whose share is the largest,
/// searched from the root down.
///
/// Source   Kueue v0.19, pkg/scheduler/preemption/fairsharing: ordering.go, target.go.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "kueue/world.h"

namespace almanac::kueue {

class Turns {
 public:
  /// `candidates` in the order in which each queue gives them up.
  Turns(const World& world, QueueAt preemptor, const std::vector<Workload*>& candidates);

  /// Returns the next queue; kNoNode = none is left.
  NodeAt next();
  bool has_left(QueueAt queue) const { return given_[queue] < left_[queue].size(); }
  /// Returns the next candidate of a queue that has any left.
  Workload& take(QueueAt queue) { return *left_[queue][given_[queue]++]; }
  /// The queue has no further turn.
  void drop(QueueAt queue) { is_dropped_[queue] = true; }

 private:
  NodeAt largest_below(NodeAt node);
  Workload& first_of(QueueAt queue) const { return *left_[queue][given_[queue]]; }

  const QuotaTree& tree_;
  QueueAt preemptor_;
  std::vector<std::vector<Workload*>> left_{};  ///< By queue.
  std::vector<std::size_t> given_{};            ///< Number of them that were taken.
  std::vector<bool> is_dropped_{};              ///< By node.
  std::vector<bool> is_ancestor_{};             ///< By node, of the preemptor.
};

/// Returns the nodes just below the lowest cohort that two queues of one tree share: that of `one`
/// first.
std::pair<NodeAt, NodeAt> below_common(const QuotaTree& tree, QueueAt one, QueueAt other);

/// Candidates of other queues before those of the preemptor's own, then as is_preempted_before().
bool is_fairly_preempted_before(QueueAt preemptor, const Workload& a, const Workload& b);

}  // namespace almanac::kueue
