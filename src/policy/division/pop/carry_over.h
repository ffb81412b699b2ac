// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says in one plan what another says.
#pragma once

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Repeats all of `made`, which was planned on a copy of the ledger of `plan` and with its quotas:
/// these count what it says already. Cost: O(what it says).
void carry_over(const Plan& made, const View& view, Plan& plan);

}  // namespace almanac::policy
