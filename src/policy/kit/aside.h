// SPDX-License-Identifier: Apache-2.0

/// \file
/// Handles jobs that a policy does not see: starts such a job, and reserves room for it until it
/// fits.
#pragma once

#include <unordered_map>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/slots.h"

namespace almanac::policy {

/// Starts a waiting job if it fits and its quotas have room, avoiding doubted nodes if possible.
/// Returns false if it changed nothing.
bool start_now(const Placement& placement, const DoubtedNodes& doubted, JobId job, const View& view,
               Plan& plan);

/// Boots the nodes on which a waiting job would start if none slept. Cost: a placement per sleeping
/// node.
void boot_for(const Placement& placement, JobId job, const View& view, Plan& plan);

/// Takes in `ledger` what is free on the nodes with most room for a waiting job, on as many nodes
/// as its GPUs or tasks need, and adds it to `taken`. `held` is how many GPUs of a node
/// never become free when other jobs end. O(nodes x log nodes).
void set_aside(JobId job, const std::unordered_map<NodeId, int>& held, const View& view,
               cluster::Ledger& ledger, std::vector<cluster::Grant>& taken);

/// Returns the reason of a waiting job without room: what it requests, and what is free.
Reason short_of(JobId job, const View& view, const cluster::Ledger& ledger);

}  // namespace almanac::policy
