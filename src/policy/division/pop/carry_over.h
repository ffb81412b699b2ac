// SPDX-License-Identifier: Apache-2.0

/// \file
/// Copies one plan into another.
#pragma once

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Repeats in `plan` all of `made`, which was planned on a copy of the ledger of `plan` and with
/// its quotas; these already count it. O(size of `made`).
void carry_over(const Plan& made, const View& view, Plan& plan);

}  // namespace almanac::policy
