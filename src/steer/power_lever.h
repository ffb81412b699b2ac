// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `power`: as many nodes on as the capacity of the policy says (ces_venus, follow_load,
/// standby), by Slurm's own power saving.
///
/// Slurm wakes by itself what a job needs that it starts; here nodes are put to sleep, as
/// policy/kit/pipeline/node_keeper.h does it, and woken when the capacity wants more. Nodes that
/// somebody else has powered down are left alone. What the capacity has learned is lost with the
/// service.
#pragma once

#include <memory>

#include "steer/lever.h"

namespace almanac::steer {

std::unique_ptr<Lever> make_power_lever();

}  // namespace almanac::steer
