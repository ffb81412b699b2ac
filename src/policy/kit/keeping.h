// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy for jobs of which some must run: the minimum replicas of a service, and its router.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "policy/kit/desk.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/kit/eviction.h"

namespace almanac::policy {

/// What happens if a kept job does not fit.
enum class IfFull : std::uint8_t {
  /// The job waits until others end. For a live service, where any user may submit kept jobs and
  /// must not be able to stop other users' jobs with them.
  wait,
  /// Running jobs that are not kept stop for it at once. For simulations, where the person who adds
  /// the service decides that it comes first.
  stop_others,
  /// As stop_others, but whole nodes are emptied with few stops (empty_nodes.h), instead of as few
  /// GPU-seconds being lost as possible.
  empty_nodes
};

/// Lets `others` decide about all jobs except kept ones. `others` never sees kept jobs: what they
/// hold appears as GPUs out of service.
///
/// A kept job starts as soon as there is room, before any other job, in order of arrival, and no
/// policy takes what it holds until it ends. If it does not fit, IfFull says whether running jobs
/// stop for it. While it waits, the free capacity of the nodes with most room for it is reserved,
/// on as many nodes as it needs, and sleeping nodes boot if it would fit there. Quotas and limits
/// apply to it as to all jobs.
///
/// Reclaim: jobs stop in the order of kit/least_loss.h, or, with IfFull::empty_nodes, those on the
/// nodes that are emptied with the fewest stops. No more jobs stop than the kept job needs. A stop
/// costs the same as any preemption. At one instant, in a decision each, `others` first handles the
/// events, then the jobs stop and the kept job starts, then `others` gets EventKind::job_failed for
/// each stopped job and queues it again.
///
/// Cost     O(nodes x log nodes) per decision while a kept job waits, and a placement per sleeping
///          node; a reclaim adds O(jobs that have not ended); otherwise O(events)
class Keeping final : public Policy {
 public:
  /// `is_kept` is called once per job, on arrival. `resizes` says whether `others` lets an elastic
  /// job continue on fewer GPUs.
  Keeping(std::unique_ptr<Policy> others, std::function<bool(JobId)> is_kept, IfFull if_full,
          bool resizes = false);

  void decide(std::span<const Event> events, const View& view, Plan& plan) override;
  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override;
  void line_up(std::vector<JobId>& line) const override;

 private:
  using NodeHolds = std::unordered_map<NodeId, int>;

  /// Fills `told_` with the part of `events` for the others, and handles the rest.
  void hear(std::span<const Event> events, const View& view);
  /// Handles an event about a kept job. Returns whether it was one.
  bool take_in(const Event& event, const View& view);
  /// Records an event about another job.
  void note_other(const Event& event);
  /// Starts waiting kept jobs on GPUs of jobs that it stops. Returns false if none stops.
  bool reclaim(const View& view, Plan& plan);
  bool reclaim_for(JobId job, const View& view, Plan& plan);
  /// Starts kept jobs if there is room, else reserves room, and lets the others decide.
  void decide_all(const View& view, Plan& plan);
  /// Returns running jobs of `vc` that may stop in this plan, the first to stop first.
  std::vector<JobId> by_loss(VcId vc, const View& view, const Plan& plan) const;
  /// Returns the GPUs of nodes that never become free when other jobs end.
  NodeHolds held_for_good(const View& view) const;
  void tell_change(VcId vc);

  std::unique_ptr<Policy> others_;
  std::function<bool(JobId)> is_kept_;
  IfFull if_full_;
  bool resizes_;
  DoubtedNodes doubted_;
  Desk desk_;  // only places kept jobs; its queue is not used
  Eviction eviction_{desk_};
  std::unordered_set<JobId> kept_;
  std::unordered_set<JobId> others_jobs_;  // arrived and not ended; only for reclaims
  std::vector<JobId> waiting_;             // kept jobs, in order of arrival
  std::vector<cluster::Grant> aside_;
  std::vector<Event> told_;
  std::vector<Event> stops_;           // stops of the last reclaim, not yet sent to the others
  std::vector<JobId> others_stopped_;  // by their last decision; they queue them in the next one
  bool others_decided_ = false;        // in the last decision
  Time own_wake_ = kNoTime;            // instant at which this object decides again for itself
  bool others_wake_now_ = false;       // whether the others requested one more decision there
};

/// Returns `policy`, wrapped in Keeping if kept jobs need that: if the composition may take from a
/// running job what it holds, or if kept jobs stop others. Otherwise kept jobs are like all others.
std::unique_ptr<Policy> keeping(std::unique_ptr<Policy> policy, const Composition& composition,
                                std::function<bool(JobId)> is_kept, IfFull if_full = IfFull::wait);

/// Whether the composition may take from a running job what it holds.
bool keeps_apart(const Composition& composition);

}  // namespace almanac::policy
