// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `placement`: waiting jobs are held until the policy starts them, and are then released
/// to the nodes that it chose. Slurm's own queue is short: what is about to start, and what is left
/// to it.
///
/// Left to Slurm, without nodes: jobs that ask for nodes themselves, have a comment of an
/// administrator's, have waited for longer than the age cap, were released by somebody else, or
/// were released in vain too often. Arrays are held and released as a whole, without nodes.
#pragma once

#include <memory>

#include "steer/lever.h"

namespace almanac::steer {

std::unique_ptr<Lever> make_placement_lever();

}  // namespace almanac::steer
