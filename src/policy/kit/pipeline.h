// SPDX-License-Identifier: Apache-2.0

/// \file
/// The stock policy: slots filled with choices, run on events.
#pragma once

#include <memory>

#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "policy/contract/host.h"

namespace almanac::policy {

/// Makes the policy of `composition`, which must not be a whole scheduler.
///
/// Cost     O(log n) per event with n waiting jobs, plus what is started or stopped; only virtual
///          clusters with an event are looked at
/// clusters that an event touched are looked at.
std::unique_ptr<Policy> make_pipeline(const Composition& composition, Host host);

}  // namespace almanac::policy
