// SPDX-License-Identifier: Apache-2.0

/// \file
/// The policies that can run on Slurm, and what Slurm does without us.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/composition.h"

namespace almanac::advice {

/// What is taken for stock Slurm: first come, first served with its backfill, which believes the
/// users' time limits (where a job has none, what the user's jobs took).
policy::Composition stock();

/// Those of the registry that need nothing that Slurm does not do: no job that changes while it
/// runs, no leases, no stops. Each as it is and, where it lets no job pass, with backfill too,
/// which Slurm has anyway. What only a simulation can know is learned (service::compose).
std::vector<policy::Composition> candidates();

/// The policies that `names` name, separated by commas. Fails with usage as Registry::compose()
/// does, and with unsupported where a policy needs more than Slurm does.
Result<std::vector<policy::Composition>> candidates(const std::string& names);

}  // namespace almanac::advice
