// SPDX-License-Identifier: Apache-2.0

/// \file
/// Predicts when a job could start: backfill's will-run test.
#pragma once

#include <optional>
#include <vector>

#include "slurmctld/jobs/submission.h"
#include "slurmctld/nodes/choose.h"

namespace almanac::slurmctld {

/// A running job and when its time limit ends it.
struct RunningJob {
  std::uint32_t job = 0;
  Seconds end = 0;
  const Allocation* allocation = nullptr;
};

struct WillRunSettings {
  Seconds linear_window = 0;  ///< bf_window_linear; 0 = windows double.
  /// Added to the end of a job that is already over its limit: KillWait and OverTimeLimit.
  Seconds overrun = 30;
};

struct PlannedStart {
  Seconds start = 0;
  Allocation allocation{};
};

/// Returns when and where the job of `question` could start if running jobs end at their limits:
/// `now`, or the last end of a window of ends. Nothing if it cannot start even once all have ended.
/// `running` is sorted by end, then by job.
///
/// Source   Slurm 22.05 to 24.05, select/cons_common/job_test.c (_will_run_test).
/// Differs  The limit of two seconds of computing does not exist.
/// Cost     O(log(longest end)) choices of nodes
std::optional<PlannedStart> will_run(const Room& room, const Question& question,
                                     const std::vector<RunningJob>& running, Seconds now,
                                     const WillRunSettings& settings);

}  // namespace almanac::slurmctld
