// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `order`: Slurm's queue in the order of the policy, by the site factor of each job's
/// priority; where Slurm has none, by the priority itself.
#pragma once

#include <memory>

#include "steer/lever.h"

namespace almanac::steer {

/// Whether a job has waited for longer than `cap` although it could have run; kNoDuration = none
/// has.
bool is_aged(const slurm::Job& job, const Mirror& mirror, Duration cap);

/// Whether the order is told by site factors: priority/basic takes none into account.
bool uses_site_factor(const slurm::Site& site, const slurm::Abilities& can);

std::unique_ptr<Lever> make_order_lever();

}  // namespace almanac::steer
