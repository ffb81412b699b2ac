// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a report keeps of one policy, so that its schedule can be freed: some hundred kB, for any
/// number of jobs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "experiment/dues.h"
#include "experiment/summary.h"
#include "report/run_gain.h"
#include "report/run_gantt.h"
#include "report/run_groups.h"
#include "report/run_input.h"
#include "report/run_occupancy.h"
#include "report/run_rates.h"
#include "report/run_timeline.h"

namespace almanac::report {

struct PolicyDigest {
  experiment::Summary summary{};
  std::vector<double> jct_s{};   ///< At stats::kPercentiles of the finished jobs; empty without
                                 ///< values.
  std::vector<double> wait_s{};  ///< The same for waits.
  std::array<GroupTotals, kNumGroupings> totals{};  ///< Indexed by By.
  WaitsByDay days{};
  Timeline timeline{};
  Occupancy occupancy{};
  Gantt gantt{};
  std::vector<JobId> never{};  ///< Jobs that can never start.
  double held_gpu_s = 0;       ///< GPU time allocated to finished jobs.
  double restart_gpu_s = 0;    ///< Part of it beyond the run times of the log.
  Rates rates{};
  experiment::Dues dues{};
  std::int64_t stopped_jobs = 0;  ///< Jobs that were stopped at least once.
};

/// What the digests of a run draw, and at which size; the same for every policy.
struct DigestPlan {
  explicit DigestPlan(const RunInput& input);

  GanttLimits gantt;
  std::vector<GanttWindow> windows;
  OccupancyLimits occupancy;
  std::size_t timeline_bins;
};

/// Returns the digest of a schedule. Thread-safe for different schedules. O(jobs log jobs).
PolicyDigest digest(const RunInput& input, const DigestPlan& plan, experiment::Summary summary,
                    const sim::Schedule& schedule);

}  // namespace almanac::report
