// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `idle`: users of jobs whose GPUs do not compute hear of it, and after a grace the jobs
/// that may be requeued are.
///
/// Only what the agents of all of a job's nodes tell counts: what nobody tells is not idle, and a
/// gap of a minute begins the count anew, as do another run and a service that begins again. No job
/// is requeued before the site's hook, where there is one, has told its user without failing. While
/// the lever is dry or rests its user has heard nothing, so the grace has not begun.
///
/// Cost     O(running jobs) a look; a thread for each hook that runs, eight at most.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "steer/lever.h"
#include "steer/slimmer.h"

namespace almanac::steer {

/// `slimmer` outlives it and follows what jobs use; `present` names the nodes with an agent that
/// reports, and is empty where no agents are listened for.
std::unique_ptr<Lever> make_idle_lever(const Slimmer& slimmer,
                                       std::function<std::set<std::string>()> present);

}  // namespace almanac::steer
