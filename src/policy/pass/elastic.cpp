// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leases in which jobs may have other numbers of GPUs than in the previous one: the fewest that
/// keep the promises (pledges.h). What is left goes, step by step, to the jobs that gain most.
///
/// A step is worth the GPU time that it saves a job later, per GPU that it takes now. For a job
/// with a promise that is the pledged GPU time it no longer needs; for a job without one, the time
/// it would need on its fewest GPUs. A different number of GPUs means a restart, so a step must
/// gain more than a restart costs within the lease. If a new job's promise needs GPUs at once, lent
/// GPUs are allocated again within a lease too.
///
/// Source   Gu et al., ASPLOS'23 (ElasticFlow), section 4: minimum satisfactory share, then
///          marginal return; powers of two, which fill nodes without gaps (its buddy allocation).
/// Differs  Restarts count. A job whose deadline cannot be promised is not rejected; it runs on
///          the free GPUs.
/// Cost     O(log n) per step with n jobs; at most as many steps per lease as there are GPUs
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "policy/kit/eviction.h"
#include "policy/kit/pledging_pass.h"
#include "policy/kit/quota_deal.h"
#include "policy/kit/shape_choices.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class ElasticPass final : public PledgingPass {
 public:
  ElasticPass(Desk& desk, Duration lease, Duration phase, Pledges::Whose whose)
      : PledgingPass(desk, lease, phase, Pledges::Stops::at_once, whose) {}

  void ended(VcState& vc, JobId job) override {
    PledgingPass::ended(vc, job);
    levels_.erase(job);
  }

 private:
  /// A job and what it is to have.
  struct Share {
    JobId job{};
    std::int32_t tier = 0;
    double rank = 0;
    int had = 0;
    int claimed = 0;             // GPUs, of quotas: what it had or is to have, if that is more
    std::uint64_t gpu_type = 0;  // one bit; 0 = not settled
    Level level = kNothing;
    bool pledged = false;  // all that
    bool may_move = true;  // and keep its promise
    std::vector<cluster::Grant> grants{};
  };
  struct Step {
    std::int32_t tier = 0;
    double worth = 0;
    double rank = 0;
    std::size_t share = 0;
    std::uint64_t gpu_type = 0;
    Level to{};

    /// Whether `b` goes first.
    friend bool operator<(const Step& a, const Step& b) {
      if (a.tier != b.tier) return a.tier < b.tier;
      if (a.worth != b.worth) return a.worth < b.worth;
      if (a.rank != b.rank) return a.rank > b.rank;
      return a.share > b.share;
    }
  };

  std::span<const Level> levels(JobId job) override {
    std::vector<Level>& made = levels_[job];
    if (!made.empty()) return made;
    if (!desk_.chooses_shape(job)) {
      const cluster::Demand& demand = desk_.demand(job);
      made.push_back({.gpus = demand.gpus, .nodes = demand.nodes, .rate = desk_.rate(job)});
      return made;
    }
    // Takes the fastest shape for each number of GPUs, if it is faster than all with fewer.
    for (const ShapeChoice& each : choices_.of(job, desk_.view())) {
      if (!made.empty() && each.rate <= made.back().rate) continue;
      if (!made.empty() && made.back().gpus == each.gpus()) made.pop_back();
      made.push_back({.gpus = each.gpus(), .nodes = each.nodes, .rate = each.rate});
    }
    return made;
  }

  void deal(VcState& vc) override {
    gather(vc);
    give_what_is_pledged(vc);
    give_the_rest(vc);
    if (!find_places(vc, stayers_first) && !find_places(vc, largest_first)) {
      find_places(vc, pledged_first);
    }
    for (const Share& each : shares_) settle(vc, each);
  }

  void gather(const VcState& vc) {
    shares_.clear();
    left_.clear();
    quotas_.open(desk_.plan().quotas);
    for (const cluster::Pool& pool : desk_.ledger().pools(vc.vc)) {
      left_[pool.gpu_type] += pool.free_gpus;
    }
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      const JobId job = at.get()->job;
      if (!desk_.runs(job) || desk_.demand(job).is_cpu_job() || !may_move(desk_, job)) continue;
      if (!pledges_.can_give_way(vc.vc, job)) continue;
      Share made{.job = job,
                 .tier = desk_.view().tier(job),
                 .rank = desk_.order().rank(desk_.candidate(job)),
                 .had = pledges_.held(job),
                 .gpu_type = pledges_.type_of(vc.vc, job),
                 .may_move = pledges_.may_restart(vc.vc, job)};
      left_[made.gpu_type] += made.had;
      made.claimed = made.had;
      shares_.push_back(std::move(made));
    }
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      if (each.demand.is_cpu_job()) continue;
      for (RankedQueue::Cursor at(each.jobs); at.get() != nullptr; at.advance()) {
        const JobId job = at.get()->job;
        Share made{.job = job, .tier = at.get()->key.tier, .rank = at.get()->key.rank};
        if (pledges_.has(vc.vc, job)) made.gpu_type = pledges_.demand(vc.vc, job).gpu_types;
        shares_.push_back(std::move(made));
      }
    }
    std::sort(shares_.begin(), shares_.end(), [](const Share& a, const Share& b) {
      if (a.tier != b.tier) return a.tier > b.tier;
      return a.rank != b.rank ? a.rank < b.rank : a.job < b.job;
    });
  }

  bool has_room(const Share& share, int gpus) {
    return quotas_.has_room(share.job, share.claimed, gpus);
  }
  void claim(Share& share, int gpus) {
    quotas_.deal(share.job, share.claimed, gpus);
    share.claimed = std::max(share.claimed, gpus);
  }

  void give_what_is_pledged(const VcState& vc) {
    for (Share& each : shares_) {
      const int pledged = pledges_.now(vc.vc, each.job);
      if (pledged == 0 || pledged > left_[each.gpu_type] || !has_room(each, pledged)) continue;
      claim(each, pledged);
      for (const Level& level : levels(each.job)) {
        if (level.gpus == pledged) each.level = level;
      }
      left_[each.gpu_type] -= each.level.gpus;
      each.pledged = true;
    }
  }

  void give_the_rest(const VcState& vc) {
    std::priority_queue<Step> steps;
    const auto push = [&](std::size_t share) {
      if (const auto step = best_step(vc, share)) steps.push(*step);
    };
    for (std::size_t share = 0; share < shares_.size(); ++share) push(share);
    while (!steps.empty()) {
      const Step step = steps.top();
      steps.pop();
      Share& share = shares_[step.share];
      const int more = step.to.gpus - share.level.gpus;
      if (more <= left_[step.gpu_type] && has_room(share, step.to.gpus)) {
        claim(share, step.to.gpus);
        left_[step.gpu_type] -= more;
        share.gpu_type = step.gpu_type;
        share.level = step.to;
      }
      push(step.share);
    }
  }

  /// The step up that is worth most of those for which there is room.
  std::optional<Step> best_step(const VcState& vc, std::size_t at) {
    const Share& share = shares_[at];
    std::uint64_t type = share.gpu_type;
    if (type == 0) type = roomiest(desk_.demand(share.job));
    const int room = left_[type];
    if (room == 0) return std::nullopt;
    std::optional<Step> best;
    for (const Level& to : levels(share.job)) {
      const int more = to.gpus - share.level.gpus;
      if (more <= 0 || more > room || !has_room(share, to.gpus)) continue;
      const double gain = pledges_.gain(vc.vc, share.job, share.level, to);
      const double worth = gain * pledges_.gpus_per_rate(vc.vc, share.job) / more;
      if (gain <= 0 || (best && worth <= best->worth)) continue;
      best = {.tier = share.tier,
              .worth = worth,
              .rank = share.rank,
              .share = at,
              .gpu_type = type,
              .to = to};
    }
    return best;
  }

  std::uint64_t roomiest(const cluster::Demand& demand) const {
    std::uint64_t best = 0;
    int most = 0;
    for (const auto& [type, room] : left_) {
      if ((type & demand.gpu_types) == 0 || room <= most) continue;
      best = type;
      most = room;
    }
    return best;
  }

  static bool stays(const Share& share) { return share.had == share.level.gpus; }
  static bool must_stay(const Share& share) { return stays(share) && !share.may_move; }

  static bool stayers_first(const Share& a, const Share& b) {
    return stays(a) != stays(b) ? stays(a) : a.level.gpus > b.level.gpus;
  }
  static bool largest_first(const Share& a, const Share& b) {
    return must_stay(a) != must_stay(b) ? must_stay(a) : a.level.gpus > b.level.gpus;
  }
  static bool pledged_first(const Share& a, const Share& b) {
    return a.pledged != b.pledged ? a.pledged : largest_first(a, b);
  }

  /// Finds GPUs for all jobs, in this order; where they were if those are free. Gives whether all
  /// have some; if not, the ledger is as it was, but after the last way.
  bool find_places(VcState& vc, bool (*before)(const Share&, const Share&)) {
    if (placed_from_) desk_.ledger().undo(*placed_from_);
    placed_from_ = desk_.ledger().mark();
    std::stable_sort(shares_.begin(), shares_.end(), before);
    for (const Share& each : shares_) {
      if (each.had > 0) desk_.give_back(each.job);
    }
    bool all = true;
    for (Share& each : shares_) {
      each.grants.clear();
      if (each.level.gpus == 0) continue;
      if (!stay(each)) {
        cluster::Demand demand = desk_.demand(each.job);
        demand.gpus = each.level.gpus;
        demand.nodes = each.level.nodes;
        demand.gpu_types = each.gpu_type;
        demand.claim = kNoClaim;  // there is room, because it was allocated above
        const auto grants = desk_.place(vc.vc, demand);
        each.grants.assign(grants.begin(), grants.end());
      }
      all = all && !each.grants.empty();
    }
    if (all || before == pledged_first) placed_from_.reset();
    return all;
  }

  bool stay(Share& share) {
    if (!stays(share)) return false;
    const auto held = desk_.grants(share.job);
    const bool free = std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
      return desk_.ledger().can_take(grant);
    });
    if (!free) return false;
    for (const cluster::Grant& grant : held) desk_.ledger().take(grant);
    share.grants.assign(held.begin(), held.end());
    return true;
  }

  /// Returns a job that begins or grows on a node of `loser`, one with a pledge if possible; kNoJob
  /// if there is none.
  JobId winner_over(JobId loser) const {
    JobId winner = kNoJob;
    for (const Share& each : shares_) {
      if (each.level.gpus <= each.had || !is_on_a_node_of(loser, each.grants)) continue;
      if (each.pledged) return each.job;
      if (winner == kNoJob) winner = each.job;
    }
    return winner;
  }

  bool is_on_a_node_of(JobId job, std::span<const cluster::Grant> grants) const {
    const auto held = desk_.grants(job);
    return std::any_of(grants.begin(), grants.end(), [&](const cluster::Grant& grant) {
      return std::any_of(held.begin(), held.end(),
                         [&](const cluster::Grant& its) { return its.node == grant.node; });
    });
  }

  void settle(VcState& vc, const Share& share) {
    const JobId job = share.job;
    if (share.grants.empty()) {
      if (share.had == 0) return;
      const JobId winner = winner_over(job);
      winner == kNoJob ? desk_.stop(vc, job) : desk_.stop_for(vc, job, winner);
      return;
    }
    const auto held = desk_.grants(job);
    if (share.had > 0 &&
        std::equal(held.begin(), held.end(), share.grants.begin(), share.grants.end())) {
      return;
    }
    const Level& level = share.level;
    if (desk_.chooses_shape(job)) {
      desk_.reshape(vc, job, {.nodes = level.nodes, .gpus = level.gpus, .rate = level.rate});
    }
    share.had > 0 ? desk_.move(job, share.grants) : desk_.start(vc, job, share.grants);
  }

  ShapeChoices choices_;
  std::map<JobId, std::vector<Level>> levels_;
  std::vector<Share> shares_;
  std::map<std::uint64_t, int> left_;  // GPUs of each type
  QuotaDeal quotas_;
  std::optional<std::size_t> placed_from_;
};

}  // namespace

namespace pass {

void register_elastic(Registry& registry) {
  registry.passes.add(
      {.name = "elastic",
       .summary = "guarantees deadlines on the fewest GPUs that meet them; spare GPUs go where "
                  "they speed up jobs most",
       .source = "Gu et al. ASPLOS'23 (ElasticFlow) §4",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_deadlines, Trait::reads_speeds,
                          Trait::stops_jobs, Trait::moves_jobs, Trait::resizes_jobs, Trait::leases,
                          Trait::remembers, Trait::keeps_line},
                  .bars = {Trait::deals_out, Trait::revises_waiting, Trait::shares_gpus}},
       .parameters = {number("lease_s", "length of a lease", 300, 1, 1e9),
                      word("deadlines",
                           "which deadlines are accepted: those of the first jobs, or in each "
                           "lease those that need the least GPU time",
                           {"first", "cheapest"})}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<ElasticPass>(desk, told.duration("lease_s"), Duration{0},
                                             told.word("deadlines") == "cheapest"
                                                 ? Pledges::Whose::cheapest
                                                 : Pledges::Whose::first_to_come);
      });
}

}  // namespace pass
}  // namespace almanac::policy
