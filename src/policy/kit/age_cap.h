// SPDX-License-Identifier: Apache-2.0

/// \file
/// A bound on how long a job waits under any policy.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "policy/composition.h"
#include "policy/contract/contract.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/slots.h"

namespace almanac::policy {

/// The default age cap of a service.
inline constexpr Duration kAgeCap = 24h;

/// A policy that may let jobs beyond an age cap go first by itself.
class CapsAge {
 public:
  /// False = it cannot. To be called before its first decision.
  virtual bool cap_age(Duration cap) = 0;

 protected:
  ~CapsAge() = default;
};

/// Lets `others` decide about all jobs but those that have waited longer than `cap`, of which it
/// learns that they were withdrawn.
///
/// Such a job starts as soon as there is room, the one that has waited longest first. Where that
/// one does not fit, what is free of the nodes that have most room for it is set aside until it
/// does: to `others` as GPUs that are out of service. No job is stopped for it. Once it has run for
/// `tenure` it is `others`' again, as a running job that is adopted: so a policy that stops jobs
/// may stop it then. Quotas, and times until which a job is held, count for it as for all.
///
/// Cost: O(log n) for each job that comes, starts or stops, with n jobs that wait; O(nodes x log
/// nodes) a decision while a job waits beyond the cap.
class AgeCap final : public Policy {
 public:
  /// `spares_trials`: trials of sweeps may wait for as long as `others` like, which compare them.
  AgeCap(std::unique_ptr<Policy> others, Duration cap, Duration tenure, bool spares_trials);

  void decide(std::span<const Event> events, const View& view, Plan& plan) override;
  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override;
  void line_up(std::vector<JobId>& line) const override;

 private:
  struct Aged {
    Time back{};  // to `others`, where it runs
  };
  /// Takes an event in; false = `others` are to hear of it.
  bool take_in(const Event& event, const View& view);
  void note_waiting(JobId job, const View& view, Time since);
  /// Makes those that have waited for the cap `aged_`.
  void age(const View& view);
  void hand_back(const View& view);
  void start_or_set_aside(const View& view, Plan& plan);
  void note_stopped(const View& view, const Plan& plan);
  void ask_wakes(const View& view, Plan& plan);
  void tell_change(VcId vc);

  std::unique_ptr<Policy> others_;
  Duration cap_;
  Duration tenure_;
  bool spares_trials_;
  std::unique_ptr<Placement> placement_;
  DoubtedNodes doubted_;
  std::set<std::tuple<Time, JobId, Time>> due_;  // when a job is too old, and since when it waits
  std::unordered_map<JobId, Aged> aged_;         // that `others` do not know
  std::vector<JobId> waiting_;                   // of them, the one that has waited longest first
  std::vector<VcId> vc_of_;                      // of each job that ever waited
  std::vector<cluster::Grant> aside_;
  JobId aside_for_ = kNoJob;
  std::vector<Event> told_;
  std::priority_queue<Time, std::vector<Time>, std::greater<>> wakes_;  // that `others` asked for
  Time asked_ = kNoTime;                                                // the wake of its own
  bool has_stopped_ = false;  // jobs, which join the lines of `others` when these decide next
};

/// `policy` under an age cap; kNoDuration = as it is. A policy that CapsAge keeps its aged jobs. Of
/// the others, one that stops no jobs has an aged job back at once, any other once it has run for
/// as long as the cap. Trials of sweeps have no cap under a policy that ends trials: those that
/// wait have been outdone.
std::unique_ptr<Policy> age_capped(std::unique_ptr<Policy> policy, const Composition& composition,
                                   Duration cap);

/// "A service starts a job that has waited 24 h before all others, ...": a sentence.
std::string age_cap_sentence(Duration cap);

}  // namespace almanac::policy
