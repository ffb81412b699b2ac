// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a run shows, in sentences that are true whatever the run.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// `policies` in the order of the run; the first is what the others are compared with. Of those
/// that were interrupted it is said that they were, and nothing else.
std::vector<figure::Finding> run_findings(const RunInput& input,
                                          const std::vector<PolicyDigest>& policies);

/// The position of the policy with the least average completion time of those that are no bound and
/// were not interrupted; of all where there is none; the first where none finished a job.
std::size_t best_policy(const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
