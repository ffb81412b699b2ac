// SPDX-License-Identifier: Apache-2.0

/// \file
/// Findings of a run about GPU utilization, rates and CPU jobs.
#pragma once

#include <cstddef>
#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// Returns no finding if the run simulates neither speeds nor CPU jobs. `best` is the policy with
/// the smallest mean completion time.
std::vector<figure::Finding> speed_findings(const std::vector<PolicyDigest>& policies,
                                            std::size_t best);

}  // namespace almanac::report
