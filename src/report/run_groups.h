// SPDX-License-Identifier: Apache-2.0

/// \file
/// Waits under each policy by user, virtual cluster, size and run time of jobs.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "report/run_input.h"
#include "sim/simulation.h"

namespace almanac::report {

/// Totals over the finished jobs of a group.
struct GroupTotal {
  double finished = 0;
  double wait_s = 0;
  double jct_s = 0;
  double mean_wait_s() const {
    return finished > 0 ? wait_s / finished : std::numeric_limits<double>::quiet_NaN();
  }
};

/// Indexed by the group in its grouping.
using GroupTotals = std::vector<GroupTotal>;

/// O(jobs).
GroupTotals totals_of(const Grouping& grouping, const trace::Trace& trace,
                      const sim::Schedule& schedule);

/// Names of a figure of groups.
struct GroupTitles {
  std::string id{};          ///< "run_users"
  std::string title{};       ///< "Users"
  std::string group{};       ///< Column with the name of the group: "user".
  std::string label{};       ///< "User"
  bool by_gpu_time = false;  ///< Sorts by GPU time, largest first; else as in the grouping.
  std::size_t most = std::numeric_limits<std::size_t>::max();
};

/// Draws one row per group: jobs, GPU time, and a column avg_wait_s:<policy> for each policy.
/// `totals` are by policy.
figure::Figure draw_groups(const GroupTitles& titles, const Grouping& grouping,
                           const std::vector<std::string>& policies,
                           const std::vector<const GroupTotals*>& totals);

}  // namespace almanac::report
