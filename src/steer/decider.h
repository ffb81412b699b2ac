// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides what the policy would have a managed cluster do now.
///
/// Each decision is a new round of a new policy object, which takes over the running jobs, is shown
/// the waiting jobs and decides once. The controller's state is the truth, so a decision depends on
/// nothing that happened before it (docs/decisions/0010-a-new-round-each-time.md). Only run times
/// that were learned (experience.h) and facts about unchanged jobs (roll.h) are kept.
///
/// Cost: some tens of milliseconds for 10,000 waiting and 2,000 running jobs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "perf/catalogue.h"
#include "policy/contract/contract.h"
#include "schedule/hosts.h"
#include "steer/decision.h"
#include "steer/experience.h"
#include "steer/planned_round.h"
#include "steer/policies.h"
#include "steer/roll.h"
#include "trace/trace.h"

namespace almanac::steer {

/// Of one mirror. Not thread-safe.
class Decider {
 public:
  /// Learns run times from `lessons`, ended jobs of this cluster. `speeds` says how jobs on one GPU
  /// slow each other; null if that is not known.
  Decider(Chosen policy, trace::Trace lessons, std::uint64_t seed,
          std::shared_ptr<const perf::Catalogue> speeds = nullptr);

  /// Decides at an instant of the controller's clock. A policy of leases decides at the first call
  /// in each lease, as of its beginning; until the next lease its last decision stands.
  /// `announced` are waiting jobs that the mirror does not know yet, under temporary numbers; they
  /// are part of the decision. The policy sees neither the jobs `in_vain` (lever.h) nor those that
  /// the manager would not start on the nodes that suit them.
  const Decision& decide(const Mirror& mirror, std::shared_ptr<const World> world,
                         const Exempt& exempt, std::span<const manager::Job> announced = {},
                         const std::set<manager::JobNumber>& in_vain = {});
  const Decision& last() const { return decision_; }
  const Chosen& policy() const { return chosen_; }
  /// Why a job in one of the lines waits; nothing if it is in none, or was to start.
  std::optional<policy::Reason> why(manager::JobNumber job) {
    return round_ ? round_->why(job) : std::nullopt;
  }
  /// The number of the job that Reason::other stands for.
  manager::JobNumber number(JobId job) const { return round_->jobs().number(job); }
  /// The waiting jobs that the policy was shown, in order of submission; an array appears once for
  /// each task. Includes jobs at a quota, and announced jobs under their temporary numbers.
  std::span<const manager::JobNumber> shown() const {
    return round_ ? round_->jobs().shown() : std::span<const manager::JobNumber>();
  }
  /// Position of a job in its line, from 1, and length of the line; 0 of 0 if it is in none.
  struct Place {
    std::int64_t number = 0;
    std::int64_t of = 0;
  };
  Place place(manager::JobNumber job) const;
  /// The line in which a job would stand that is about to be submitted, under a number never used
  /// before. It counts as waiting until the next decision. Empty if it would stand in none.
  std::vector<manager::JobNumber> line_with(const manager::Job& newcomer) {
    return round_ ? round_->line_with(newcomer) : std::vector<manager::JobNumber>();
  }
  Duration believed(const manager::Job& job, const World& world) {
    return experience_.believed(job, world);
  }
  void learn(const manager::Job& ended, const World& world) { experience_.learn(ended, world); }
  /// Jobs learned from since the start.
  std::size_t learned() const { return experience_.learned(); }
  /// Forgets an announced job that is gone or has another number now.
  void forget(manager::JobNumber job) { experience_.forget(job); }

 private:
  struct Spot {
    VcId vc{};
    std::int64_t number = 0;
  };

  /// The instant of a decision at `now`; nothing if the last one stands.
  std::optional<Time> instant(Time now) const;
  void read_plan();
  /// Notes which jobs were to start at the last decision too.
  void note_starts(const std::map<manager::JobNumber, Time>& before);
  // decider_limits.cpp: quotas, and jobs that are at a limit.
  /// Notes which jobs the policy saw that are at a quota now, and at which.
  void note_quotas(const Mirror& mirror);
  /// Ranks the jobs at a limit in the order in which the policy looks at all waiting jobs if
  /// nothing is free. Running jobs do not count against them there.
  void rank_limited(const Mirror& mirror, const schedule::PastUses& past_use);

  Chosen chosen_;
  std::uint64_t seed_;
  std::shared_ptr<const perf::Catalogue> speeds_;
  Experience experience_;
  Roll roll_;
  Decision decision_;
  std::unique_ptr<PlannedRound> round_;  // of the last decision; null before the first
  std::unordered_map<manager::JobNumber, Spot> places_;
};

}  // namespace almanac::steer
