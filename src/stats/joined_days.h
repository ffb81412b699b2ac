// SPDX-License-Identifier: Apache-2.0

/// \file
/// Days joined to blocks, so that what two schedules of the same jobs differ by can be drawn anew.
///
/// The jobs of a day wait together, so days are drawn and not jobs. Where a queue lasts for days,
/// differences of neighbouring days are alike too: a queue that lasts is one observation. So days
/// are joined, two, four, ... at a time, until blocks are no more alike than chance makes them.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace almanac::stats {

/// What the jobs of some days in a row add up to under either schedule, in any unit.
struct DaySum {
  double jobs = 0;
  double before = 0;
  double after = 0;

  double change() const { return after - before; }
};

/// Of fewer the p of a sign test cannot fall below 0.05: of 5 blocks all one way it is 1/16.
inline constexpr std::size_t kFewestBlocks = 6;

struct JoinedDays {
  std::vector<DaySum> blocks{};  ///< In the order of days; none where no day has jobs.
  int days_a_block = 1;
  /// Whether there are kFewestBlocks, and neighbours are no more alike than chance makes
  /// independent ones in 19 of 20 cases. Where not, intervals and p would be too sure.
  bool tell = false;
};

/// Blocks as short as can be that stand alone; if none do, the longest of which there are enough.
/// `days`: number of the day from any zero. O(days log days).
JoinedDays join_days(const std::map<long long, DaySum>& days);

}  // namespace almanac::stats
