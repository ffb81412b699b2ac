// SPDX-License-Identifier: Apache-2.0

/// \file
/// Joins days to blocks, for a bootstrap of the difference between two schedules of the same jobs.
///
/// The jobs of a day wait together, so days are drawn instead of jobs. If a queue lasts for days,
/// the differences of successive days are correlated too. Days are therefore joined, 2, 4, ... at a
/// time, until successive blocks are not significantly correlated.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace almanac::stats {

/// Sums over the jobs of successive days under each of the two schedules, in any unit.
struct DaySum {
  double jobs = 0;
  double before = 0;
  double after = 0;

  double change() const { return after - before; }
};

/// With fewer blocks, the p of a sign test cannot be below 0.05: 5 blocks of one sign give 1/16.
inline constexpr std::size_t kFewestBlocks = 6;

struct JoinedDays {
  std::vector<DaySum> blocks{};  ///< In the order of days, without days that have no jobs.
  int days_a_block = 1;
  /// Whether there are kFewestBlocks and successive blocks are not significantly correlated (one-
  /// sided, 5 %). Otherwise intervals are too narrow and p-values too small.
  bool tell = false;
};

/// Returns the shortest blocks that are not significantly correlated. If there are none, returns
/// the longest of which there are kFewestBlocks. Keys of `days` count days from any zero. Cost:
/// O(days log days).
JoinedDays join_days(const std::map<long long, DaySum>& days);

}  // namespace almanac::stats
