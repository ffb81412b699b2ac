// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policies that can run on Slurm, and what Slurm does without us.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/composition.h"

namespace almanac::advice {

/// Returns the model of stock Slurm: first come, first served with its backfill, which believes the
/// users' time limits (for a job without one, what the user's jobs took).
policy::Composition stock();

/// Returns the policies of the registry that need nothing beyond Slurm: no changes of running jobs,
/// no leases, no preemption of jobs that are not marked for it. The recommended one is first
/// (policy/recommended.h). Each as it is and, if it lets no job pass, also with backfill, which
/// Slurm has anyway. What only a simulation can know is learned (service::compose).
std::vector<policy::Composition> candidates();

/// Returns the policies in `names`, separated by commas. Fails with `usage` like
/// Registry::compose(), and with `unsupported` if a policy needs more than Slurm does.
Result<std::vector<policy::Composition>> candidates(const std::string& names);

}  // namespace almanac::advice
