// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds job logs whose times contradict each other systematically: durations that count from
/// submission or use another unit, starts before submissions, clocks of two zones.
#pragma once

#include "trace/trace.h"

namespace almanac::trace {

/// Meaning of the run times of a format.
enum class RunTimes {
  recorded,   ///< End minus start, if both are given.
  measured,   ///< A figure of its own, which may differ: at the reference speed, or without the
              ///< time in which a job was suspended.
  simulated,  ///< From one of our simulations; nothing to check.
};

/// If most run times are not end minus start, replaces them by that. Adds notes on its changes and
/// on oddities of many jobs. O(jobs).
void reconcile(Trace& trace, RunTimes run_times);

}  // namespace almanac::trace
