// SPDX-License-Identifier: Apache-2.0

/// \file
/// Figures about cores and speed in the report of a run: what slowed jobs down, which jobs lost
/// most, and which CPU jobs gave way.
#pragma once

#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// Draws rates and CPU jobs; returns no figure if the run simulates neither.
std::vector<figure::Figure> draw_speed(const RunInput& input,
                                       const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
