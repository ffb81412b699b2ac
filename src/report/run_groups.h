// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long the jobs of a user, a virtual cluster, a size, a length wait under each policy.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "report/run_input.h"
#include "sim/simulation.h"

namespace almanac::report {

/// Of the jobs of a group that finished.
struct GroupTotal {
  double finished = 0;
  double wait_s = 0;
  double jct_s = 0;
  double mean_wait_s() const {
    return finished > 0 ? wait_s / finished : std::numeric_limits<double>::quiet_NaN();
  }
};

/// By group of the grouping.
using GroupTotals = std::vector<GroupTotal>;

/// O(jobs).
GroupTotals totals_of(const Grouping& grouping, const trace::Trace& trace,
                      const sim::Schedule& schedule);

/// What a figure of groups is called.
struct GroupTitles {
  std::string id{};          ///< "run_users"
  std::string title{};       ///< "Users"
  std::string group{};       ///< Column that names the group: "user".
  std::string label{};       ///< "User"
  bool by_gpu_time = false;  ///< Largest first; else in the order of the grouping.
  std::size_t most = std::numeric_limits<std::size_t>::max();
};

/// One row a group: jobs, GPU time, and a column avg_wait_s:<policy> for each policy. `totals` are
/// by policy.
figure::Figure draw_groups(const GroupTitles& titles, const Grouping& grouping,
                           const std::vector<std::string>& policies,
                           const std::vector<const GroupTotals*>& totals);

}  // namespace almanac::report
