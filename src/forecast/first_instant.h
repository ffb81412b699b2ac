// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether a policy starts a job at one instant.
#pragma once

#include "base/ids.h"
#include "cluster/cluster.h"
#include "policy/contract/contract.h"
#include "sim/present.h"
#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::forecast {

/// Resumes at `present`, and returns whether `job` runs before time goes on. Cost: the decisions
/// of that instant.
bool starts_at_once(const trace::Trace& trace, const cluster::Cluster& cluster,
                    policy::Policy& policy, sim::Options options, const sim::Present& present,
                    JobId job);

}  // namespace almanac::forecast
