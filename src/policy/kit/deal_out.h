// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds GPUs, cores and memory for the jobs of a lease, so that none falls below its proportional
/// share and total throughput is high.
///
///   1 A running job stays. A new job goes where the cores that it wishes for are free, on the
///     node with the fewest free GPUs among these. It is spread only if no node has enough GPUs.
///   2 If wishes are not met, a job changes places with one that wishes for less, or moves to a
///     free GPU, if that gains more than moving costs.
///   3 The cores and memory of each node are given out (node_split.h). A job on several nodes gets
///     more if all of them have some left.
///
/// Source   Mohan et al., OSDI'22 (Synergy), TUNE: a job is never below its proportional share, and
///          one that has more gives way to one that has less than that.
/// Differs  The artifact packs again each lease, from the first GPU on, and takes from neighbors
///          until the next job fits. So demanding jobs meet on the first nodes while others have
///          spare cores, and all jobs move.
#pragma once

#include <span>

#include "base/ids.h"
#include "cluster/ledger.h"
#include "policy/slots.h"

namespace almanac::policy {

/// Takes what the jobs get in `ledger`, in which everything they hold is given back. The GPUs of
/// `held` must be free and their nodes ready.
void pack(std::span<PackedJob> jobs, VcId vc, cluster::Ledger& ledger);

}  // namespace almanac::policy
