// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs stop if whole nodes are taken back from them with few stops.
///
/// The cost of a node is the sum, over the jobs that hold GPUs there, of the part of a job's nodes
/// that this one is: a job on n nodes costs 1/n on each. The node of least cost is emptied first.
/// Its jobs stop, and so cost nothing on other nodes, which are then cheaper. A job that can go on
/// without what it holds on the emptied nodes costs nothing.
///
/// Source   Li et al., EuroSys'23 (Lyra), and Aryl, its earlier version: reclaiming servers that
///          were lent to training, as a knapsack whose values depend on each other.
/// Differs  The highest priority tier of the jobs on a node counts before its cost. A resized job
///          restarts, so one that only gives up workers stops too, and continues on the others if
///          the policy lets it.
#pragma once

#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Returns `jobs`, which run, in the order in which they stop. If `may_shrink`, an elastic job
/// (Request::max_gpus) costs nothing on a node while it keeps its minimum on others.
/// O(nodes^2 x jobs of a node).
std::vector<JobId> by_cheapest_node(const std::vector<JobId>& jobs, bool may_shrink,
                                    const View& view);

}  // namespace almanac::policy
