// SPDX-License-Identifier: Apache-2.0

/// \file
/// Room for jobs that a policy does not hear of: what starts such a job, and what is kept free for
/// it until it fits.
#pragma once

#include <unordered_map>
#include <vector>

#include "policy/contract/contract.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/slots.h"

namespace almanac::policy {

/// Starts a waiting job, off doubted nodes if others will do, if it fits and its quotas have room;
/// false = changed nothing.
bool start_now(const Placement& placement, const DoubtedNodes& doubted, JobId job, const View& view,
               Plan& plan);

/// Boots the nodes that a waiting job would begin on if none slept. Cost: a placement for each node
/// that sleeps.
void boot_for(const Placement& placement, JobId job, const View& view, Plan& plan);

/// Takes in `ledger` what is free of the nodes that have most room for a waiting job, of as many as
/// it needs, and adds it to `taken`. `held` is how many GPUs of a node no end of another job frees.
/// Cost: O(nodes x log nodes).
void set_aside(JobId job, const std::unordered_map<NodeId, int>& held, const View& view,
               cluster::Ledger& ledger, std::vector<cluster::Grant>& taken);

/// Returns the reason of a waiting job for which there is no room: what it asks, and what is free.
Reason short_of(JobId job, const View& view, const cluster::Ledger& ledger);

}  // namespace almanac::policy
