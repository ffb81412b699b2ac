// SPDX-License-Identifier: Apache-2.0

/// \file
/// Findings of a run, in sentences that fit any run.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// Returns the findings. `policies` are in the order of the run; the first is the baseline. For an
/// interrupted policy the only finding is that it was interrupted.
std::vector<figure::Finding> run_findings(const RunInput& input,
                                          const std::vector<PolicyDigest>& policies);

/// Returns the position of the policy with the smallest mean completion time among deployable,
/// complete ones; among all policies if there is none; 0 if no policy finished a job.
std::size_t best_policy(const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
