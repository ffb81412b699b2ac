// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which sizes of a cluster to simulate, and the smallest that reaches a goal.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "capacity/goal.h"

namespace almanac::capacity {

/// Sizes relative to today's that are always simulated, largest first; the last is today's.
inline constexpr double kAtLeastTested[] = {2, 1.75, 1.5, 1.25, 1.1, 1};
/// The largest size that is simulated.
inline constexpr int kMostTimes = 16;

/// The search for the smallest number of nodes from which on every larger tested number meets the
/// goal. Proposes kAtLeastTested; smaller sizes down to half of today's, unless the goal is missed
/// tenfold; up to sixteen times of today's until the goal is met; below half until it is missed;
/// then bisects down to one node. What it proposes depends only on what was recorded.
class Search {
 public:
  /// `least` is the smallest number of nodes to consider.
  Search(const Goal& goal, int today, int least);

  /// Returns the next number of nodes to simulate; nothing when the search is over.
  std::optional<int> next() const;
  /// Records the statistic of a size.
  void record(int nodes, double value) { tested_[nodes] = value; }

  int today() const { return today_; }
  /// Returns this many times today's nodes, rounded, but at least the least.
  int size_at(double factor) const;
  /// Returns the smallest number so far; nothing if the largest tested size misses the goal.
  std::optional<int> answer() const;
  /// The tested sizes and their statistics, in ascending order.
  const std::map<int, double>& tested() const { return tested_; }

 private:
  Goal goal_;
  int today_;
  int least_;
  std::map<int, double> tested_;
};

}  // namespace almanac::capacity
