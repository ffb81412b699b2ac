// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds GPUs, cores and memory for the jobs of a lease, so that none falls below its proportional
/// share and all together do much.
///
///   1 a job that runs stays; a new job goes where the cores that it wishes for are free, of these
///     nodes to that with the fewest free GPUs, and is spread only if no node has GPUs enough
///   2 where wishes are not met, a job changes places with one that wishes for less, or moves to a
///     free GPU, if that is worth more than moving costs
///   3 each node is dealt out (node_split.h); a job on several nodes gets more where all of them
///     have some left
///
/// Source   Mohan et al., OSDI'22 (Synergy), TUNE: a job is never below its proportional share, and
///          one that has more gives way to one that has less than that.
/// Differs  the artifact packs anew each lease, from the first GPU on, and takes from neighbours
///          until the next job fits. So hungry jobs meet on the first nodes while others have cores
///          to spare, and all jobs move.
#pragma once

#include <span>

#include "base/ids.h"
#include "cluster/ledger.h"
#include "policy/slots.h"

namespace almanac::policy {

/// Takes what the jobs get in `ledger`, where all that they hold is given back. The GPUs of `held`
/// are free and their nodes ready.
void pack(std::span<PackedJob> jobs, VcId vc, cluster::Ledger& ledger);

}  // namespace almanac::policy
