// SPDX-License-Identifier: Apache-2.0

/// \file
/// Energy of the nodes under each policy, what node power-down saved, and the jobs that it delayed.
#pragma once

#include <optional>
#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// Draws one row per policy. Savings appear if any node slept.
figure::Figure draw_energy(const std::vector<PolicyDigest>& policies,
                           const experiment::Prepared& prepared);

/// Returns nothing if no node slept.
std::optional<figure::Finding> energy_finding(const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
