// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy for jobs of which some must be there: the least replicas of a service, and its router.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "policy/slots.h"

namespace almanac::policy {

/// Lets `others` decide about all jobs but those that are kept. Of these it never hears: what they
/// hold is to it as GPUs that are out of service.
///
/// A job that is kept begins as soon as there is room, before any other, in the order in which they
/// came, and no policy takes from it what it holds until it ends. Where it does not fit, what is
/// free of the nodes that have most room for it is set aside until it does, of as many as it needs;
/// no job is stopped for it. Where it would fit if no node slept, those that it needs are booted.
/// Quotas and limits count for it as for all.
///
/// Cost: O(nodes x log nodes) a decision while one of them waits, and a placement for each node
/// that sleeps; else O(events).
class Keeping final : public Policy {
 public:
  /// `is_kept` is asked once of each job, as it comes.
  Keeping(std::unique_ptr<Policy> others, std::function<bool(JobId)> is_kept);

  void decide(std::span<const Event> events, const View& view, Plan& plan) override;
  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override;
  void line_up(std::vector<JobId>& line) const override;

 private:
  using NodeHolds = std::unordered_map<NodeId, int>;

  /// Whether an event is of a job that is kept; then it is taken in.
  bool take_in(const Event& event, const View& view);
  /// GPUs of nodes that no end of another job will free.
  NodeHolds held_for_good(const View& view) const;
  void tell_change(VcId vc);

  std::unique_ptr<Policy> others_;
  std::function<bool(JobId)> is_kept_;
  std::unique_ptr<Placement> placement_;
  std::unordered_set<JobId> kept_;
  std::vector<JobId> waiting_;  // of them, as they came
  std::vector<cluster::Grant> aside_;
  std::vector<Event> told_;
};

/// `policy`, and around it what keeps jobs, where the composition may take from a running job what
/// it holds. Else jobs that are kept are as all others.
std::unique_ptr<Policy> keeping(std::unique_ptr<Policy> policy, const Composition& composition,
                                std::function<bool(JobId)> is_kept);

/// Whether keeping() does anything under this composition.
bool keeps_apart(const Composition& composition);

}  // namespace almanac::policy
