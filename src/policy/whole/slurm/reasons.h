// SPDX-License-Identifier: Apache-2.0

/// \file
/// Slurm's reasons in the terms of all policies.
#pragma once

#include "policy/contract/reason.h"
#include "slurmctld/jobs/job.h"

namespace almanac::policy::whole {

/// Returns the kind that Slurm's reason is of; short_of_gpus for Resources, as only the nodes show
/// what is short.
ReasonKind kind_of(slurmctld::ReasonName name);

}  // namespace almanac::policy::whole
