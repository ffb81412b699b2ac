// SPDX-License-Identifier: Apache-2.0

/// \file
/// Usage against fair share in a run: tenants of the cluster by their guarantees, otherwise all
/// users equally. A tenant without a guarantee, and jobs without a tenant, share what is left.
/// Counts the GPUs that a job requests (rules/fairness/dues.h).
///
/// Cost     that of fairness::judge(), plus 56 bytes per GPU job.
#pragma once

#include "cluster/cluster.h"
#include "rules/fairness/dues.h"
#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::experiment {

using fairness::Dues;
using fairness::Loan;
using fairness::Owner;

/// No owners unless at least two have a GPU job.
Dues judge(const trace::Trace& trace, const cluster::Cluster& cluster,
           const sim::Schedule& schedule);

}  // namespace almanac::experiment
