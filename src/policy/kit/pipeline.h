// SPDX-License-Identifier: Apache-2.0

/// \file
/// The stock policy: slots filled with choices, run as events come.
#pragma once

#include <memory>

#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "policy/contract/host.h"

namespace almanac::policy {

/// Builds the policy of `composition`, which is no whole scheduler.
///
/// Cost: O(log n) an event with n jobs waiting, plus what is started or stopped; only virtual
/// clusters that an event touched are looked at.
std::unique_ptr<Policy> make_pipeline(const Composition& composition, Host host);

}  // namespace almanac::policy
