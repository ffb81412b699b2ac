// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies side by side: means, tails, fairness and use; and distributions of completion times and
/// waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/summary.h"
#include "figure/document.h"

namespace almanac::report {

/// The table: one row for each policy, and one for what was recorded if it is among them.
figure::Figure draw_comparison(const std::vector<experiment::Summary>& policies);

/// The mean wait against the worst-off user's wait and against preemptions: one mark for each
/// complete policy, hollow for an oracle.
figure::Figure draw_tradeoff(const std::vector<experiment::Summary>& policies);

/// Bars of times, waits and use, for each policy.
figure::Figure draw_bars(const std::vector<experiment::Summary>& policies);

/// Names the baseline (policy::baseline_of), the policy with the lowest mean completion time, and
/// the recommendation. An oracle, an interrupted policy and what was recorded carry a caution and
/// are never recommended; the latter two are never best.
figure::Compared compared_of(const std::vector<experiment::Summary>& policies);

/// What the curve of a distribution is called.
struct CurveTitles {
  std::string id{};
  std::string title{};
  std::string column{};  ///< "jct_s"
  std::string label{};
  std::string zeros{};  ///< What has a value of 0: "Jobs that did not wait"; "" = nothing.
};

/// How a quantity is distributed under a policy.
struct Distribution {
  std::string policy{};
  std::int64_t finished = 0;       ///< Jobs.
  std::vector<double> values_s{};  ///< At stats::kPercentiles; none, no values.
};

/// A row for each policy and percentile.
figure::Figure draw_percentiles(const CurveTitles& titles,
                                const std::vector<Distribution>& policies);

}  // namespace almanac::report
