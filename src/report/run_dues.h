// SPDX-License-Identifier: Apache-2.0

/// \file
/// Usage against fair share under each policy, by tenant or else by user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/dues.h"
#include "figure/figure.h"

namespace almanac::report {

/// Draws one row per owner, largest fair share first, at most 50. For each policy it shows the
/// received fraction of the fair share and, with tenants, lent and borrowed GPU time. `dues` are by
/// policy; the owners are those of the first.
figure::Figure draw_dues(const std::vector<std::string>& policies,
                         const std::vector<const experiment::Dues*>& dues);

/// Returns how far the worst-off tenant is from its fair share under a policy, and who lent to
/// whom; nothing without tenants.
std::optional<figure::Finding> dues_finding(const std::string& policy,
                                            const experiment::Dues& dues);

}  // namespace almanac::report
