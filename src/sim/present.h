// SPDX-License-Identifier: Apache-2.0

/// \file
/// The state of a cluster and its jobs at an instant, before any decision at it: enough for a new
/// round and a new policy to continue.
///
/// It does not include what a policy has worked out by itself, such as promises or trials of core
/// counts. Nodes that sleep or boot count as on.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "cluster/cluster.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"
#include "policy/contract/host.h"
#include "schedule/round.h"
#include "trace/trace.h"

namespace almanac::sim {

struct Present {
  struct Job {
    JobId job{};
    schedule::Past past{};
    Duration worked{};                   ///< At the speed at which run times are given.
    std::vector<cluster::Grant> held{};  ///< Empty if it waits.
  };

  Time at{};
  std::vector<Job> running;  ///< In order of start.
  /// In order of joining the queue. A job that pauses after a failure joins it at `past.since`,
  /// later than `at`.
  std::vector<Job> waiting;
  /// Tasks that wait for room in their array (Request::array_limit), in the order in which they
  /// get it. They are not in the queue yet.
  std::vector<JobId> throttled{};
  std::vector<NodeId> drained;
  /// Usage until then; null if unknown.
  std::shared_ptr<const std::vector<policy::PastUse>> past_use{};
};

/// When jobs that failed join the queue again, as Listener::paused() says. Past times do no harm.
using Pauses = std::unordered_map<JobId, Time>;

/// `telemetry` null: the work of a job equals its time running. Cost: O(jobs of the trace).
Present present_of(const schedule::Round& round, const cluster::Cluster& cluster,
                   std::size_t num_jobs, const policy::Telemetry* telemetry, Time now,
                   const Pauses& pauses = {});

/// Returns the tasks that were submitted by `now` and wait for room in their array, in order of
/// submission. Cost: O(jobs of the trace).
std::vector<JobId> throttled_tasks(const schedule::Round& round, const trace::Trace& trace,
                                   Time now);

}  // namespace almanac::sim
