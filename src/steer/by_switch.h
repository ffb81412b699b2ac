// SPDX-License-Identifier: Apache-2.0

/// \file
/// Puts a job of several nodes onto nodes of one switch: the policies do not look at the network,
/// and to them all free nodes of a make are alike.
#pragma once

#include <functional>
#include <vector>

#include "cluster/ledger.h"
#include "steer/decision.h"

namespace almanac::steer {

/// Of each job that is to start on several nodes which are not all of one switch: gives it nodes of
/// the switch that has the fewest of those that would do, and enough; its own count as free. Who
/// has no such switch, or has nodes in part, stays where it is, and no start gives way to another.
/// A node that is not on would do nobody: a boot takes longer. `ledger` has all starts on the nodes
/// of the policy.
/// Cost     a step for each node and such job.
void gather_by_switch(std::vector<Decision::Start>& starts, const cluster::Cluster& cluster,
                      const cluster::Ledger& ledger, const std::function<bool(NodeId)>& is_on);

}  // namespace almanac::steer
