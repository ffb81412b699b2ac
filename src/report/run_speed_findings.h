// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a run tells of the use of GPUs, of rates and of CPU jobs, in sentences.
#pragma once

#include <cstddef>
#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// None where the run simulates neither speeds nor CPU jobs. `best` is the policy that has jobs
/// done soonest.
std::vector<figure::Finding> speed_findings(const std::vector<PolicyDigest>& policies,
                                            std::size_t best);

}  // namespace almanac::report
