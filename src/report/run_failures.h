// SPDX-License-Identifier: Apache-2.0

/// \file
/// What simulated failures cost under each policy: by cause, and by size of job with the best
/// checkpoint interval.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// Returns the two figures; none if no failures were simulated.
std::vector<figure::Figure> draw_failures(const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
