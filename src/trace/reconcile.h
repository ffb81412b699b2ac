// SPDX-License-Identifier: Apache-2.0

/// \file
/// Looks for a job log whose times disagree with each other as a rule, not by accident: a duration
/// that counts from submission or in another unit, starts before submissions, clocks of two zones.
#pragma once

#include "trace/trace.h"

namespace almanac::trace {

/// What the run times of a format are.
enum class RunTimes {
  recorded,   ///< End minus start, where both are there.
  reference,  ///< Of a job at the reference speed: it may have taken longer or shorter.
  simulated,  ///< Of one of our runs: nothing to check.
};

/// Where most run times are not end minus start, sets them to that. Notes what it changed and
/// what is odd about many jobs. O(jobs).
void reconcile(Trace& trace, RunTimes run_times);

}  // namespace almanac::trace
