// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `placement`: waiting jobs are held until the policy starts them (holding_lever.h), and
/// are then released to the nodes that it chose. Slurm's own queue is short: what is about to
/// start, and what is left to it.
///
/// Jobs of shards are not its own where the lever `sharing` has them.
#pragma once

#include <memory>

#include "steer/lever.h"

namespace almanac::steer {

std::unique_ptr<Lever> make_placement_lever();

}  // namespace almanac::steer
