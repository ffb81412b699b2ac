// SPDX-License-Identifier: Apache-2.0

/// \file
/// Findings of a run, in sentences that fit any run.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/recommendation.h"
#include "report/run_digest.h"

namespace almanac::report {

/// Returns the findings. `policies` are in the order of the run. For an interrupted policy the only
/// finding is that it was interrupted.
std::vector<figure::Finding> run_findings(const RunInput& input,
                                          const std::vector<PolicyDigest>& policies);

/// Returns the policies that were not interrupted, the baseline first (policy::baseline_of).
std::vector<PolicyDigest> complete_policies(const std::vector<PolicyDigest>& all);

/// Returns pointers to the summaries of `policies`, which must outlive them.
SummaryRows summary_rows(const std::vector<PolicyDigest>& policies);

/// Returns the position of the recommended policy (report/recommendation.h). If no policy is
/// deployable, returns that of the lowest mean completion time; 0 if no policy finished a job.
std::size_t best_policy(const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
