// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the agents on the nodes must do, from the claims that stand.
#pragma once

#include "steer/agents.h"
#include "steer/claims.h"

namespace almanac::steer {

/// Returns which jobs each agent must hold to how many cores.
Agents::Orders orders_of(const Claims& claims);

}  // namespace almanac::steer
