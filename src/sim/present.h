// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is true of a cluster and its jobs at an instant, before anything is decided at it: enough
/// for a new round and a new policy to go on from.
///
/// What a policy has found out by itself is not in it: promises that it gave, cores that it tried.
/// Nodes that sleep or boot are taken to be on.
#pragma once

#include <memory>
#include <vector>

#include "base/time.h"
#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"
#include "policy/contract/host.h"
#include "schedule/round.h"

namespace almanac::sim {

struct Present {
  struct Job {
    JobId job{};
    schedule::Past past{};
    Duration worked{};                   ///< At the speed at which run times are told.
    std::vector<cluster::Grant> held{};  ///< Nothing if it waits.
  };

  Time at{};
  std::vector<Job> running;  ///< In order of start.
  std::vector<Job> waiting;  ///< In order of joining the queue.
  std::vector<NodeId> drained;
  /// What was used until then; null = nothing is known of it.
  std::shared_ptr<const std::vector<policy::PastUse>> past_use{};
};

/// `telemetry` null = a job does as much as the time that it runs. Cost: O(jobs of the trace).
Present present_of(const schedule::Round& round, const cluster::Cluster& cluster,
                   std::size_t num_jobs, const policy::Telemetry* telemetry, Time now);

}  // namespace almanac::sim
