// SPDX-License-Identifier: Apache-2.0

/// \file
/// Compares policies: means, tails, fairness and utilization, and the distributions of completion
/// times and waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/summary.h"
#include "figure/document.h"

namespace almanac::report {

/// Returns the table: one row per policy, and one for the recorded schedule if there is one.
figure::Figure draw_comparison(const std::vector<experiment::Summary>& policies);

/// Draws the mean wait against the worst-off user's wait and against preemptions: one mark per
/// complete policy, hollow for an oracle.
figure::Figure draw_tradeoff(const std::vector<experiment::Summary>& policies);

/// Draws bars of times, waits and utilization of each policy.
figure::Figure draw_bars(const std::vector<experiment::Summary>& policies);

/// Names the baseline (policy::baseline_of), the policy with the lowest mean completion time, and
/// the recommendation. An oracle, an interrupted policy and what was recorded carry a caution and
/// are never recommended; the latter two are never best.
figure::Compared compared_of(const std::vector<experiment::Summary>& policies);

/// Names of a distribution's curve.
struct CurveTitles {
  std::string id{};
  std::string title{};
  std::string column{};  ///< "jct_s"
  std::string label{};
  std::string zeros{};  ///< What has the value 0, such as "Jobs that did not wait"; "" for nothing.
};

/// Distribution of a quantity under a policy.
struct Distribution {
  std::string policy{};
  std::int64_t finished = 0;       ///< Jobs.
  std::vector<double> values_s{};  ///< At stats::kPercentiles; empty without values.
};

/// Draws one row per policy and percentile.
figure::Figure draw_percentiles(const CurveTitles& titles,
                                const std::vector<Distribution>& policies);

}  // namespace almanac::report
