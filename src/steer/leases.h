// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leases: holds that end by themselves within slurmctld. How long a lease is, and which ones must
/// be renewed. Renewals are not journaled, because they change nothing in effect.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "base/time.h"
#include "manager/link.h"
#include "steer/mirror.h"

namespace almanac::steer {

/// Two minutes; longer if renewals of the held jobs would otherwise take more than an eighth of
/// the allowed changes per second.
Duration lease_for(std::size_t held, double changes_per_s);
/// Waiting jobs held by Almanac.
std::size_t count_leases(const Mirror& mirror);
/// The change that holds a job until `end`, in whole seconds.
manager::JobChange held_until(manager::JobNumber job, Time end);
/// Returns the leases of length `lease` to postpone, the earliest ends first, except for jobs in
/// `but`: at most `some` from a quarter of their length on, and at most `most` in their last
/// quarter.
std::vector<manager::JobChange> renewals(const Mirror& mirror, Duration lease, std::size_t some,
                                         std::size_t most, const std::set<manager::JobNumber>& but);

}  // namespace almanac::steer
