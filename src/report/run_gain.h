// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much less jobs wait under one policy than under another, and how sure that is.
#pragma once

#include <map>
#include <optional>

#include "report/run_input.h"
#include "sim/simulation.h"

namespace almanac::report {

/// Jobs submitted on one day of the log, counted from its first submission, that finished.
struct DayWaits {
  double jobs = 0;
  double wait_s = 0;  ///< Sum.
};
using WaitsByDay = std::map<long long, DayWaits>;

/// Leaves the warm-up out, as summaries do. O(jobs log days).
WaitsByDay waits_by_day(const RunInput& input, const sim::Schedule& schedule);

/// Part of the mean wait that the second policy saves: 0.5 = jobs wait half as long, below 0 =
/// longer.
struct GainInterval {
  double from = 0;  ///< 95 % of the bootstraps over days lie from here ...
  double to = 0;    ///< ... to here.
};

/// The 95 % interval of the saved part of the mean wait. Nothing where other jobs finished under
/// one policy than under the other, nobody waits under `before`, or the days are too few or too
/// much alike (stats/joined_days.h). Deterministic. O(10,000 days).
std::optional<GainInterval> gain_interval(const WaitsByDay& before, const WaitsByDay& after);

}  // namespace almanac::report
