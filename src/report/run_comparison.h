// SPDX-License-Identifier: Apache-2.0

/// \file
/// Policies side by side: averages, tails, fairness, use; and how completion times and waits are
/// distributed.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// One row a policy, and one for what was recorded where it is among them.
figure::Figure draw_comparison(const std::vector<sim::Summary>& policies);

/// What the curve of a distribution is called.
struct CurveTitles {
  std::string id{};
  std::string title{};
  std::string column{};  ///< "jct_s"
  std::string label{};
};

/// A row for each policy and percentile. `values` is the member of a digest.
figure::Figure draw_percentiles(const CurveTitles& titles,
                                const std::vector<PolicyDigest>& policies,
                                std::vector<double> PolicyDigest::*values);

}  // namespace almanac::report
