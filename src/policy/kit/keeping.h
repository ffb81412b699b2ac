// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy for jobs of which some must be there: the least replicas of a service, and its router.
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
  /// The job waits until others end. A live service uses this: any user may submit kept jobs there,
  /// and must not be able to stop the jobs of others with them.
  wait,
  /// Running jobs that are not kept stop for it at once, as in a simulation, where whoever adds the
  /// service decides that it comes first.
  stop_others
};

/// Lets `others` decide about all jobs but those that are kept. `others` never hears of kept jobs:
/// it sees what they hold as GPUs that are out of service.
///
/// A kept job begins as soon as there is room, before any other, in the order in which they came,
/// and no policy takes from it what it holds until it ends. If it does not fit, IfFull says whether
/// running jobs stop for it. While it waits, what is free of the nodes that have most room for it
/// is set aside, of as many as it needs, and nodes that sleep are booted if it would fit there.
/// Quotas and limits count for it as for all.
///
/// Reclaim: the jobs of the lowest priority tier stop first, of these the ones that would lose
/// least GPU time (RestartCost::of_failure() times their GPUs), and of equals the one that began
/// last; no more stop than the kept job needs. A stop costs a job what any preemption costs. At one
/// instant `others` first answers what has happened, then the jobs stop and the kept job starts,
/// then `others` hears EventKind::job_failed of each that stopped and queues it again: a decision
/// each.
///
/// Cost: O(nodes x log nodes) a decision while a kept job waits, and a placement for each node
/// that sleeps; a reclaim O(jobs that have not ended) more; else O(events).
class Keeping final : public Policy {
 public:
  /// `is_kept` is asked once of each job, as it comes.
  Keeping(std::unique_ptr<Policy> others, std::function<bool(JobId)> is_kept, IfFull if_full);

  void decide(std::span<const Event> events, const View& view, Plan& plan) override;
  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override;
  void line_up(std::vector<JobId>& line) const override;

 private:
  using NodeHolds = std::unordered_map<NodeId, int>;

  /// Fills `told_` with what the others are to hear of `events`, and takes in the rest.
  void hear(std::span<const Event> events, const View& view);
  /// Whether an event is about a kept job; then takes it in.
  bool take_in(const Event& event, const View& view);
  /// Takes in an event about another job.
  void note_other(const Event& event);
  /// Starts kept jobs that wait, on GPUs of jobs that it stops; false = none stops.
  bool reclaim(const View& view, Plan& plan);
  bool reclaim_for(JobId job, const View& view, Plan& plan);
  /// Starts kept jobs where there is room, else sets it aside, and lets the others decide.
  void decide_all(const View& view, Plan& plan);
  /// Running jobs of `vc` that may stop in this plan, the first to stop first.
  std::vector<JobId> by_loss(VcId vc, const View& view, const Plan& plan) const;
  /// GPUs of nodes that no end of another job will free.
  NodeHolds held_for_good(const View& view) const;
  void tell_change(VcId vc);

  std::unique_ptr<Policy> others_;
  std::function<bool(JobId)> is_kept_;
  IfFull if_full_;
  DoubtedNodes doubted_;
  Desk desk_;  // what it would queue is not asked: it places kept jobs only
  Eviction eviction_{desk_};
  std::unordered_set<JobId> kept_;
  std::unordered_set<JobId> others_jobs_;  // that have come and not ended; kept for reclaims only
  std::vector<JobId> waiting_;             // of those that are kept, as they came
  std::vector<cluster::Grant> aside_;
  std::vector<Event> told_;
  std::vector<Event> stops_;           // what the others have not heard of the last reclaim
  std::vector<JobId> others_stopped_;  // in their last decision: they queue them in the next one
  bool others_decided_ = false;        // in the last decision
  Time own_wake_ = kNoTime;            // the instant at which this decides again for itself
  bool others_wake_now_ = false;       // whether the others asked for one more decision there
};

/// Returns `policy`, wrapped in Keeping where a kept job needs it: if the composition may take from
/// a running job what it holds, or if kept jobs stop others. Else kept jobs are as all others.
std::unique_ptr<Policy> keeping(std::unique_ptr<Policy> policy, const Composition& composition,
                                std::function<bool(JobId)> is_kept, IfFull if_full = IfFull::wait);

/// Whether the composition may take from a running job what it holds.
bool keeps_apart(const Composition& composition);

}  // namespace almanac::policy
