// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who had how much of its due under each policy: tenants, else users.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/dues.h"
#include "figure/figure.h"

namespace almanac::report {

/// One row an owner, those with most due first, 50 at most; for each policy the part of its due
/// that it had, and with tenants what it lent and borrowed. `dues` are by policy; those of the
/// first say who there is.
figure::Figure draw_dues(const std::vector<std::string>& policies,
                         const std::vector<const experiment::Dues*>& dues);

/// How far the tenant that is worst off under a policy is from its due, and who lent to whom;
/// nothing without tenants.
std::optional<figure::Finding> dues_finding(const std::string& policy,
                                            const experiment::Dues& dues);

}  // namespace almanac::report
