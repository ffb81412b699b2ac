// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a job is billed for each second: the weighted sum of what it holds (TRESBillingWeights).
///
/// Source   Slurm 22.05 to 25.11, assoc_mgr_tres_weighted() and calc_job_billable_tres().
#pragma once

#include <span>

#include "site/config.h"
#include "site/tres.h"

namespace almanac::slurmctld {

/// Returns the billed amount, not rounded. Without weights, the CPUs count 1 each.
///
/// With PriorityFlags=MAX_TRES only the largest of CPUs, memory, nodes and generic resources
/// counts, with MAX_TRES_GRES of CPUs, memory and nodes; the others are added.
double billable(const site::TresCounts& held, const site::TresWeights& weights,
                const site::PrioritySettings& settings, std::span<const site::Tres> tres);

}  // namespace almanac::slurmctld
