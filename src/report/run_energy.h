// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the nodes drew under each policy, what sleeping spared, and which jobs it delayed.
#pragma once

#include <optional>
#include <vector>

#include "figure/figure.h"
#include "report/run_digest.h"

namespace almanac::report {

/// A row a policy. What sleep spared is drawn where a node slept.
figure::Figure draw_energy(const std::vector<PolicyDigest>& policies,
                           const experiment::Prepared& prepared);

/// Nothing where no node slept.
std::optional<figure::Finding> energy_finding(const std::vector<PolicyDigest>& policies);

}  // namespace almanac::report
