// SPDX-License-Identifier: Apache-2.0

/// \file
/// What no lever may do, whatever it wants.
#pragma once

#include <optional>
#include <string>

#include "steer/lever.h"

namespace almanac::steer {

/// Why an action is not done; nothing = it may be. Jobs of exempt users, accounts, QOS and
/// partitions are not touched, nor jobs that are not there any more; only requeueable jobs are
/// requeued or suspended, none is cancelled; a job that runs has a core on each of its nodes at
/// least, and never more than Slurm gave; no hold is ended but ours, and no choice of nodes changed
/// but ours; no node is powered off that has a job, or a reservation that runs or is due before it
/// could be back.
std::optional<std::string> forbidden(const Action& action, const Scene& scene);

}  // namespace almanac::steer
