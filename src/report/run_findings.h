// SPDX-License-Identifier: Apache-2.0

/// \file
/// Findings of a run, in sentences that hold for any run.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/recommendation.h"
#include "report/run_digest.h"

namespace almanac::report {

/// `policies` in the order of the run. Of those that were interrupted it is said that they were,
/// and nothing else.
std::vector<figure::Finding> run_findings(const RunInput& input,
                                          const std::vector<PolicyDigest>& policies);

/// Returns the policies that were not interrupted, the baseline first (policy::baseline_of).
std::vector<PolicyDigest> complete_policies(const std::vector<PolicyDigest>& all);

/// Valid as long as `policies`.
SummaryRows summary_rows(const std::vector<PolicyDigest>& policies);

/// Returns the position of the recommended policy (report/recommendation.h). If no policy is
/// deployable, that of the lowest mean completion time; the first if none finished a job.
std::size_t best_policy(const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
