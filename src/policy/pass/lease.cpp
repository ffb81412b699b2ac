// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rounds: at the end of each lease all GPU jobs, waiting and running ones alike, are ranked anew.
/// The first that fill the GPUs by count run for the next lease; running jobs that are not among
/// them stop, and the size deals out what there is.
///
/// Source   Mohan et al., OSDI'22 (Synergy): leases of 300 s, chosen by GPUs alone.
/// Differs  the artifact lets every job go at the end of a lease and places all anew. Here a job
///          keeps its GPUs unless it is worth more to move it, for that costs it a restart; GPUs
///          that the chosen jobs leave, because they find no place, are offered to the next. CPU
///          jobs take what is left, in order of rank, and are never stopped.
#include <algorithm>
#include <utility>

#include "policy/desk.h"

namespace almanac::policy {
namespace {

class LeasePass final : public Pass {
 public:
  LeasePass(Desk& desk, Duration lease, Duration phase)
      : desk_(desk), lease_(lease), phase_(phase) {
    desk_.track = Desk::Track::rank;
  }

  void run(VcState& vc) override {
    const Time round = round_at_or_before(desk_.now());
    if (round == desk_.now() && is_new(vc.vc)) {
      renew(vc);
      // Whoever was stopped joins the queue at the next decision.
      if (!desk_.plan().stops.empty()) desk_.plan().wake(desk_.now());
    }
    if (!vc.waiting.empty() || !vc.running.empty()) desk_.plan().wake(round + lease_);
  }

  void timer(std::span<VcState> vcs, std::vector<VcId>& need) override {
    for (const VcState& vc : vcs) {
      if (!vc.waiting.empty() || !vc.running.empty()) need.push_back(vc.vc);
    }
  }

  Reason blocker(const VcState& vc, JobId job) const override {
    // Whoever fits waits for the round, if it is not for another job.
    const JobId first = vc.waiting.first().jobs.front().job;
    return {.kind = first == job ? ReasonKind::next_lease : ReasonKind::behind,
            .other = first == job ? kNoJob : first};
  }

 private:
  struct Ranked {
    double rank = 0;
    double tie = 0;
    JobId job{};
    int gpus = 0;
    bool runs = false;

    friend bool operator<(const Ranked& a, const Ranked& b) {
      if (a.rank != b.rank) return a.rank < b.rank;
      if (a.tie != b.tie) return a.tie < b.tie;
      return a.job < b.job;
    }
  };

  /// Whether this is the first decision of a round.
  bool is_new(VcId vc) {
    if (renewed_.size() <= index(vc)) renewed_.resize(index(vc) + 1, kNoTime);
    return std::exchange(renewed_[index(vc)], desk_.now()) != desk_.now();
  }

  Time round_at_or_before(Time now) const {
    const Duration since = now.time_since_epoch() - phase_;
    Duration rounds = (since / lease_) * lease_;
    if (rounds > since) rounds -= lease_;
    return Time{phase_ + rounds};
  }

  void renew(VcState& vc) {
    rank_all(vc);
    choose(vc);
    for (const Ranked& each : unlucky_) {
      if (!each.runs) continue;
      desk_.give_back(each.job);
      desk_.stop(vc, each.job);
    }
    if (desk_.size() != nullptr && desk_.size()->deals_out()) {
      deal_out(vc);
    } else {
      for (const Ranked& each : chosen_) {
        if (!each.runs) try_start(vc, each.job);
      }
    }
    for (const Ranked& each : unlucky_) {
      if (desk_.ledger().free_gpus(vc.vc) == 0) break;
      if (!each.runs) try_start(vc, each.job);
    }
    unmet_.clear();
    for (const Ranked& each : cpu_jobs_) try_start(vc, each.job);
    unmet_.clear();
  }

  void rank_all(const VcState& vc) {
    ranked_.clear();
    cpu_jobs_.clear();
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      for (RankedQueue::Cursor at(each.jobs); at.get() != nullptr; at.advance()) {
        rank(at.get()->job, each.demand.is_cpu_job() ? cpu_jobs_ : ranked_, false);
      }
    }
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      if (!desk_.demand(at.get()->job).is_cpu_job()) rank(at.get()->job, ranked_, true);
    }
    std::sort(ranked_.begin(), ranked_.end());
    std::sort(cpu_jobs_.begin(), cpu_jobs_.end());
  }

  void rank(JobId job, std::vector<Ranked>& into, bool runs) const {
    const Candidate seen = desk_.candidate(job);
    into.push_back({.rank = desk_.order().rank(seen),
                    .tie = desk_.order().tie(seen),
                    .job = job,
                    .gpus = desk_.demand(job).gpus,
                    .runs = runs});
  }

  void choose(const VcState& vc) {
    int left = desk_.ledger().free_gpus(vc.vc);
    for (const Ranked& each : ranked_) {
      if (each.runs) left += each.gpus;
    }
    chosen_.clear();
    unlucky_.clear();
    for (const Ranked& each : ranked_) {
      if (each.gpus <= left) {
        left -= each.gpus;
        chosen_.push_back(each);
      } else {
        unlucky_.push_back(each);
      }
    }
  }

  void try_start(VcState& vc, JobId job) {
    const cluster::Demand& demand = desk_.demand(job);
    const bool hopeless =
        std::any_of(unmet_.begin(), unmet_.end(),
                    [&](const cluster::Demand& unmet) { return demand.covers(unmet); });
    if (hopeless) return;
    const auto grants = desk_.place(vc.vc, demand);
    grants.empty() ? unmet_.push_back(demand) : desk_.start(vc, job, grants);
  }

  /// All nodes of a job are ready: it could move.
  bool is_free_to_move(JobId job) {
    const auto held = desk_.grants(job);
    return std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
      return !desk_.ledger().drained(grant.node) &&
             desk_.ledger().power(grant.node) == cluster::Power::on;
    });
  }

  void deal_out(VcState& vc) {
    packed_.clear();
    for (const Ranked& each : chosen_) {
      if (each.runs && !is_free_to_move(each.job)) continue;  // it ends on a drained node
      const cluster::Demand& demand = desk_.demand(each.job);
      packed_.push_back({.job = each.job, .gpus = each.gpus, .gpu_types = demand.gpu_types});
      if (!each.runs) continue;
      packed_.back().held = desk_.grants(each.job);
      desk_.give_back(each.job);
    }
    desk_.size()->deal_out(packed_, vc.vc, desk_.view(), desk_.ledger());
    for (const PackedJob& made : packed_) settle(vc, made);
  }

  void settle(VcState& vc, const PackedJob& made) {
    if (made.held.empty()) {
      if (!made.grants.empty()) desk_.start(vc, made.job, made.grants);
    } else if (made.grants.empty()) {
      desk_.stop(vc, made.job);
    } else if (!same_gpus(made.held, made.grants)) {
      desk_.move(made.job, made.grants);
    } else if (!std::equal(made.held.begin(), made.held.end(), made.grants.begin())) {
      desk_.resized(made.job, made.grants);
    }
  }

  static bool same_gpus(std::span<const cluster::Grant> a, std::span<const cluster::Grant> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const cluster::Grant& one, const cluster::Grant& other) {
                        return one.node == other.node && one.gpus == other.gpus;
                      });
  }

  Desk& desk_;
  Duration lease_;
  Duration phase_;
  std::vector<Time> renewed_;  // of each virtual cluster
  std::vector<Ranked> ranked_;
  std::vector<Ranked> cpu_jobs_;
  std::vector<Ranked> chosen_;
  std::vector<Ranked> unlucky_;
  std::vector<PackedJob> packed_;
  std::vector<cluster::Demand> unmet_;
};

}  // namespace

std::unique_ptr<Pass> make_lease_pass(Desk& desk, Duration lease, Duration phase) {
  return std::make_unique<LeasePass>(desk, lease, phase);
}

}  // namespace almanac::policy
