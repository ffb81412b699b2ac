// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much one policy shortens waits relative to another, with a confidence interval.
#pragma once

#include <map>
#include <optional>

#include "report/run_input.h"
#include "sim/simulation.h"

namespace almanac::report {

/// Finished jobs that were submitted on one day of the log, counted from its first submission.
struct DayWaits {
  double jobs = 0;
  double wait_s = 0;  ///< Sum.
};
using WaitsByDay = std::map<long long, DayWaits>;

/// Returns the waits by day, without the warm-up, as summaries do. O(jobs log days).
WaitsByDay waits_by_day(const RunInput& input, const sim::Schedule& schedule);

/// 95 % bootstrap interval, over days, of the fraction of the mean wait that the second policy
/// saves: 0.5 means half the wait, below 0 a longer wait.
struct GainInterval {
  double from = 0;
  double to = 0;
};

/// Returns the interval, or nothing if the policies finished different numbers of jobs on a day, no
/// job waits under `before`, or the days are too few or too correlated (stats/joined_days.h).
/// Deterministic. O(10,000 x days).
std::optional<GainInterval> gain_interval(const WaitsByDay& before, const WaitsByDay& after);

}  // namespace almanac::report
