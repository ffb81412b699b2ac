// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who had how much of what was due to it in a run: tenants of the cluster by their guarantees,
/// else users, all alike. A tenant without a guarantee, and jobs of none, are due what is left.
/// GPUs are those that a job asks (rules/fairness/dues.h).
///
/// Cost     as fairness::judge(), and 56 bytes a GPU job.
#pragma once

#include "cluster/cluster.h"
#include "rules/fairness/dues.h"
#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::experiment {

using fairness::Dues;
using fairness::Loan;
using fairness::Owner;

/// No owners where there are not two with a GPU job.
Dues judge(const trace::Trace& trace, const cluster::Cluster& cluster,
           const sim::Schedule& schedule);

}  // namespace almanac::experiment
