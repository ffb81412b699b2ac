// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `slimming`: jobs that run are held to as many cores as the policy leaves them, by the
/// agents on their nodes (slimmer.h says which; agents.h tells them). Slurm's ledger does not know
/// of it: the cores that become free go to no other job.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "steer/agents.h"
#include "steer/lever.h"
#include "steer/slimmer.h"

namespace almanac::steer {

/// Nodes with an agent that reports.
using Present = std::function<std::set<std::string>()>;

/// `slimmer` outlives it. `present` empty = no agents are listened for.
std::unique_ptr<Lever> make_slimming_lever(const Slimmer& slimmer, Present present);

/// What agents are to be told, of all that stands.
Agents::Orders orders_of(const Claims& claims);

}  // namespace almanac::steer
