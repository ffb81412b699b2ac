// SPDX-License-Identifier: Apache-2.0

/// \file
/// Findings of a run, in sentences that hold for any run.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// `policies` in the order of the run; the first is what the others are compared with. Of those
/// that were interrupted it is said that they were, and nothing else.
std::vector<figure::Finding> run_findings(const RunInput& input,
                                          const std::vector<PolicyDigest>& policies);

/// The position of the policy with the lowest mean completion time of those that are no oracle and
/// were not interrupted; of all policies if there is none; the first if none finished a job.
std::size_t best_policy(const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
