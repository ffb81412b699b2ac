// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a report keeps of one policy, so that its schedule can go: some hundred kilobytes, however
/// many jobs there are.
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
  std::vector<double> jct_s{};   ///< At stats::kPercentiles of the jobs that finished; none, no
                                 ///< values.
  std::vector<double> wait_s{};  ///< Likewise.
  std::array<GroupTotals, kNumGroupings> totals{};  ///< By By.
  WaitsByDay days{};
  Timeline timeline{};
  Occupancy occupancy{};
  Gantt gantt{};
  std::vector<JobId> never{};  ///< Jobs that can never start.
  double held_gpu_s = 0;       ///< GPUs times time that they were held, of jobs that finished.
  double restart_gpu_s = 0;    ///< The part of it that the run times of the log do not account for.
  Rates rates{};
  experiment::Dues dues{};
  std::int64_t stopped_jobs = 0;  ///< Jobs stopped on the way at least once.
};

/// Where and how much the digests of a run draw; the same for every policy.
struct DigestPlan {
  explicit DigestPlan(const RunInput& input);

  GanttLimits gantt;
  std::vector<GanttWindow> windows;
  OccupancyLimits occupancy;
  std::size_t timeline_bins;
};

/// Thread-safe for different schedules. O(jobs log jobs).
PolicyDigest digest(const RunInput& input, const DigestPlan& plan, experiment::Summary summary,
                    const sim::Schedule& schedule);

}  // namespace almanac::report
