// SPDX-License-Identifier: Apache-2.0

/// \file
/// Holds that end by themselves within slurmctld: how long a lease is, and which are to be renewed.
/// A renewal changes nothing that stands, so no journal has it.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "base/time.h"
#include "slurm/link.h"
#include "steer/mirror.h"

namespace almanac::steer {

/// Two minutes; longer where so many jobs are held that renewing them would take more than an
/// eighth of the changes that Slurm may be asked a second.
Duration lease_for(std::size_t held, double changes_per_s);
/// Jobs that wait and are held by us.
std::size_t count_leases(const Mirror& mirror);
/// What holds a job until `end`, whole seconds.
slurm::JobChange held_until(slurm::JobNumber job, Time end);
/// The leases of length `lease` that are to be put off, those that end first before the others, but
/// for the jobs of `but`; from a quarter of their length on `some` at most, in their last quarter
/// `most`.
std::vector<slurm::JobChange> renewals(const Mirror& mirror, Duration lease, std::size_t some,
                                       std::size_t most, const std::set<slurm::JobNumber>& but);

}  // namespace almanac::steer
