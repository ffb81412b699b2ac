// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cores and speed in the report of a run: what held jobs back, which jobs lost most by it, and
/// which CPU jobs gave way.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// What the run tells of rates and of CPU jobs; no figure where it simulates neither.
std::vector<figure::Figure> draw_speed(const RunInput& input,
                                       const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
