// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leases with promises: a job with a promised deadline (pledges.h) has GPUs in its deadline
/// leases; the others run on the rest.
///
/// At the start of a lease, jobs that need it to keep a promise come first, then jobs without a
/// promise, then jobs that have a promise and do not need this lease, each in order of rank. The
/// first jobs whose GPUs fill the cluster run; other running jobs stop.
///
/// Source   Gao et al., SoCC'21 (Chronus).
/// Differs  The artifact stops every job at the end of a lease and places all again by local
///          search. Here a job that keeps running keeps its GPUs, because a move costs a restart.
///          Best-effort jobs run in the policy's order; in the artifact, by slack x GPUs.
/// Cost     as pass/lease.cpp
#include <algorithm>
#include <vector>

#include "policy/kit/eviction.h"
#include "policy/kit/pledging_pass.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class PledgedPass final : public PledgingPass {
 public:
  PledgedPass(Desk& desk, Duration lease, Duration phase)
      : PledgingPass(desk, lease, phase, Pledges::Stops::as_leases_begin) {}

 private:
  enum class Group { needs_it, promised_nothing, is_ahead };

  struct Ranked {
    Group group{};
    std::int32_t tier = 0;
    double rank = 0;
    double tie = 0;
    JobId job{};
    int gpus = 0;
    bool runs = false;

    friend bool operator<(const Ranked& a, const Ranked& b) {
      if (a.group != b.group) return a.group < b.group;
      if (a.tier != b.tier) return a.tier > b.tier;
      if (a.rank != b.rank) return a.rank < b.rank;
      if (a.tie != b.tie) return a.tie < b.tie;
      return a.job < b.job;
    }
  };

  std::span<const Level> levels(JobId job) override {
    const cluster::Demand& demand = desk_.demand(job);
    asked_ = {.gpus = demand.gpus, .nodes = demand.nodes, .rate = desk_.rate(job)};
    return {&asked_, 1};
  }

  Group group(VcId vc, JobId job) const {
    if (pledges_.now(vc, job) > 0) return Group::needs_it;
    return pledges_.has(vc, job) ? Group::is_ahead : Group::promised_nothing;
  }

  void deal(VcState& vc) override {
    rank_all(vc);
    choose(vc);
    for (const Ranked& each : chosen_) {
      if (!each.runs && is_worth_it(vc, each)) start_or_displace(vc, each);
    }
  }

  bool is_worth_it(const VcState& vc, const Ranked& next) {
    return next.group != Group::is_ahead ||
           pledges_.gain(vc.vc, next.job, kNothing, levels(next.job).front()) > 0;
  }

  void rank_all(const VcState& vc) {
    ranked_.clear();
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      if (each.demand.is_cpu_job()) continue;
      for (RankedQueue::Cursor at(each.jobs); at.get() != nullptr; at.advance()) {
        rank(vc, at.get()->job, each.demand.gpus, false);
      }
    }
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      const JobId job = at.get()->job;
      if (const int gpus = gpus_to_deal(desk_, job); gpus > 0) rank(vc, job, gpus, true);
    }
    std::sort(ranked_.begin(), ranked_.end());
  }

  void rank(const VcState& vc, JobId job, int gpus, bool runs) {
    const Candidate seen = desk_.candidate(job);
    ranked_.push_back({.group = group(vc.vc, job),
                       .tier = seen.tier,
                       .rank = desk_.order().rank(seen),
                       .tie = desk_.order().tie(seen),
                       .job = job,
                       .gpus = gpus,
                       .runs = runs});
  }

  /// Chooses the jobs of this lease, by count, and the running ones that may be stopped, the first
  /// to go last.
  void choose(const VcState& vc) {
    int left = desk_.ledger().free_gpus(vc.vc);
    for (const Ranked& each : ranked_) {
      if (each.runs) left += each.gpus;
    }
    chosen_.clear();
    losers_.clear();
    displaced_.clear();
    for (const Ranked& each : ranked_) {
      if (each.gpus <= left) {
        left -= each.gpus;
        chosen_.push_back(each);
        if (each.runs && each.group != Group::needs_it) displaced_.push_back(each.job);
      } else if (each.runs) {
        losers_.push_back(each.job);
      }
    }
    // For a promise chosen jobs may be stopped too, after the others.
    displaced_.insert(displaced_.end(), losers_.begin(), losers_.end());
  }

  void start_or_displace(VcState& vc, const Ranked& next) {
    const cluster::Demand demand = pledges_.demand(vc.vc, next.job);
    auto grants = desk_.place(vc.vc, demand);
    if (grants.empty()) {
      const std::vector<JobId>& running = next.group == Group::needs_it ? displaced_ : losers_;
      std::size_t left = running.size();
      grants =
          eviction_.make_room(vc.vc, demand, [&] { return left > 0 ? running[--left] : kNoJob; });
      for (const JobId victim : eviction_.victims()) {
        desk_.stop_for(vc, victim, next.job);
        std::erase(losers_, victim);
        std::erase(displaced_, victim);
      }
    }
    if (!grants.empty()) desk_.start(vc, next.job, grants);
  }

  Level asked_{};
  std::vector<Ranked> ranked_;
  std::vector<Ranked> chosen_;
  std::vector<JobId> losers_;
  std::vector<JobId> displaced_;
  Eviction eviction_{desk_};
};

}  // namespace

namespace pass {

void register_pledged(Registry& registry) {
  registry.passes.add(
      {.name = "deadline_leases",
       .summary = "accepts a deadline if enough leases are free, and then guarantees it",
       .source = "Gao et al. SoCC'21 (Chronus)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_deadlines, Trait::stops_jobs,
                          Trait::leases, Trait::remembers, Trait::keeps_line},
                  .bars = {Trait::deals_out, Trait::revises_waiting, Trait::shares_gpus}},
       .parameters = {number("lease_s", "length of a lease", 1200, 1, 1e9)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<PledgedPass>(desk, told.duration("lease_s"), Duration{0});
      });
}

}  // namespace pass
}  // namespace almanac::policy
