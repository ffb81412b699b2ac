// SPDX-License-Identifier: Apache-2.0
#include "policy/pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "policy/colocation.h"
#include "policy/desk.h"
#include "policy/node_keeper.h"
#include "policy/quota_keeper.h"

namespace almanac::policy {
namespace {

class Pipeline final : public Policy {
 public:
  Pipeline(const Composition& composition, std::unique_ptr<predict::Estimator> estimator,
           MayShare may_share)
      : desk_(std::make_unique<Desk>(registry().make_order(composition),
                                     registry().make_placement(composition),
                                     registry().make_shape(composition),
                                     registry().make_size(composition), std::move(estimator))),
        throttle_(registry().make_throttle(composition)),
        rank_delay_(composition.rank_delay) {
    desk_->needs_estimate = desk_->order().needs_estimate() || composition.shape != "rigid";
    pass_ = make_pass(composition);
    if (composition.colocate == Colocate::harmless) {
      colocation_.emplace(*desk_, composition.harmless_rate, std::move(may_share));
      desk_->set_colocation(*colocation_);
    }
    if (auto capacity = registry().make_capacity(composition)) {
      const bool strict = composition.share == Share::queue && composition.reserve == 0 &&
                          composition.preempt == Preempt::never;
      keeper_ =
          std::make_unique<NodeKeeper>(*desk_, std::move(capacity), strict, composition.binds);
    }
  }

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    desk_->open(view, plan);
    if (vcs_.size() < view.cluster.vcs.size()) add_vcs(view.cluster.vcs.size());
    need_.clear();
    requeue_stopped();
    for (const JobId job : desk_->refile(vcs_)) {
      VcState& vc = vcs_[index(view.progress(job).vc)];
      if (!is_aside(vc, job)) pass_->refiled(vc, job);
      need_.push_back(vc.vc);
    }
    for (const Event& event : events) take(event);
    for (const NodeId node : desk_->touched) offer(view.cluster.nodes[index(node)].vc);
    if (plan.quotas != nullptr) keep_quotas();
    if (need_.size() > 1) {
      std::sort(need_.begin(), need_.end());
      need_.erase(std::unique(need_.begin(), need_.end()), need_.end());
    }
    for (const VcId vc : need_) {
      pass_->run(vcs_[index(vc)]);
      while (keeper_ && keeper_->bind(vcs_[index(vc)])) pass_->run(vcs_[index(vc)]);
    }
    // Whom a start put aside may have been in the way of others.
    if (!regrouped_.empty()) plan.wake(view.now);
    const std::size_t seen = desk_->touched.size();
    desk_->freed = false;
    if (colocation_) {
      for (const JobId job : plan.stops) colocation_->ended(job);
      for (const Plan::Start& start : plan.starts) colocation_->started(start.job);
    }
    follow(desk_->size());
    follow(throttle_.get());
    desk_->touched.erase(desk_->touched.begin(),
                         desk_->touched.begin() + static_cast<std::ptrdiff_t>(seen));
    if (desk_->freed) plan.wake(view.now);
    if (keeper_) keeper_->run(vcs_, need_);
    if (rank_delay_ > Duration{0}) wake_for_ranks();
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const Progress& state = view.progress(job);
    Plan scratch(ledger);
    desk_->open(view, scratch);
    const cluster::Demand& demand = desk_->demand(job);
    if (is_aside(vcs_[index(state.vc)], job)) {
      return {.kind = ReasonKind::at_quota, .wanted = demand.gpus};
    }
    Reason reason{.kind = ReasonKind::short_of_gpus, .wanted = demand.gpus};
    for (const cluster::Pool& pool : ledger.pools(state.vc)) {
      if (pool.suits(demand)) reason.available += pool.free_gpus;
    }
    if (ledger.free_gpus(state.vc, demand) >= demand.gpus && lacks_cores(state.vc, demand)) {
      reason.kind = ReasonKind::short_of_cores;
    } else if (reason.available >= demand.gpus) {
      reason.kind = ReasonKind::fragmented;
    }
    if (!desk_->fits(state.vc, demand)) {
      if (keeper_ && keeper_->holds_back(state.vc, job)) reason.kind = ReasonKind::booting;
      return pass_->refused(vcs_[index(state.vc)], job, reason);
    }
    const VcState& vc = vcs_[index(state.vc)];
    // It has just been stopped and joins the queue at the next decision.
    if (vc.waiting.empty()) return {.wanted = reason.wanted, .available = reason.available};
    const Reason blocked = pass_->blocker(vc, job);
    if (blocked.other == job) return {.wanted = reason.wanted, .available = reason.available};
    reason.kind = blocked.kind;
    reason.other = blocked.other;
    return reason;
  }

  void line_up(std::vector<JobId>& line) const override {
    for (const VcState& vc : vcs_) {
      if (vc.waiting.empty()) continue;
      const QueueEntry* entry = &vc.waiting.first().jobs.front();
      for (; entry != nullptr; entry = vc.waiting.next(entry->key)) line.push_back(entry->job);
    }
  }

 private:
  void keep_quotas() {
    if (!quota_keeper_) {
      quota_keeper_.emplace(*desk_, *pass_, vcs_, regrouped_);
      desk_->set_quota_keeper(*quota_keeper_);
    }
    quota_keeper_->look();
    need_.insert(need_.end(), regrouped_.begin(), regrouped_.end());
    regrouped_.clear();
  }

  bool is_aside(const VcState& vc, JobId job) const {
    return vc.waiting.is_aside(desk_->demand_id(job));
  }

  /// Something of it has come free.
  void offer(VcId vc) {
    vcs_[index(vc)].blocked = kNoJob;
    need_.push_back(vc);
  }

  void follow(Follower* follower) {
    if (follower == nullptr) return;
    for (const JobId job : desk_->plan().stops) follower->ended(job, *desk_);
    for (const Plan::Start& start : desk_->plan().starts) follower->started(start.job, *desk_);
    follower->follow(*desk_);
  }

  /// Whether the GPUs alone would fit.
  bool lacks_cores(VcId vc, const cluster::Demand& demand) const {
    if (demand.is_cpu_job()) return true;
    if (demand.cpu_milli == 0 && demand.memory_mb == 0) return false;
    return desk_->fits(vc, {.gpus = demand.gpus,
                            .gpu_types = demand.gpu_types,
                            .nodes = demand.nodes,
                            .gpu_milli = demand.gpu_milli});
  }

  std::unique_ptr<Pass> make_pass(const Composition& composition) {
    if (composition.as_published) return make_published_rounds(*desk_, composition);
    if (composition.admit == Admit::leases) {
      return make_pledged_pass(*desk_, composition.lease, composition.lease_phase);
    }
    if (composition.admit == Admit::shares || composition.admit == Admit::cheapest) {
      return make_elastic_pass(*desk_, composition.lease, composition.lease_phase,
                               composition.admit == Admit::cheapest);
    }
    if (composition.lease > Duration{0}) {
      return make_lease_pass(*desk_, composition.lease, composition.lease_phase);
    }
    if (composition.share == Share::users) return make_users_pass(*desk_);
    if (composition.share == Share::arrays) {
      return make_arrays_pass(*desk_, composition.reserve_cpus);
    }
    if (composition.share == Share::models) return make_models_pass(*desk_);
    switch (composition.preempt) {
      case Preempt::by_rank:
        return make_preempting_pass(*desk_);
      case Preempt::quota:
        return make_quota_pass(*desk_);
      case Preempt::late:
        return make_late_pass(*desk_);
      case Preempt::never:
        break;
    }
    if (composition.reserve == kNobodyHolds) return make_scan_pass(*desk_);
    if (composition.reserve > 0) return make_backfill_pass(*desk_, composition.reserve);
    return make_strict_pass(*desk_);
  }

  void add_vcs(std::size_t count) {
    while (vcs_.size() < count) {
      vcs_.emplace_back();
      vcs_.back().vc = VcId{static_cast<std::uint32_t>(vcs_.size() - 1)};
    }
    unranked_.resize(count);
  }

  void requeue_stopped() {
    for (const JobId job : desk_->stopped) {
      VcState& vc = vcs_[index(desk_->view().progress(job).vc)];
      desk_->enqueue(vc, job);
      if (!is_aside(vc, job)) pass_->arrived(vc, job);
      need_.push_back(vc.vc);
    }
    desk_->stopped.clear();
  }

  void take(const Event& event) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_ended: {
        VcState& vc = vcs_[index(desk_->view().progress(job).vc)];
        desk_->learn(job);
        pass_->ended(vc, job);
        if (Size* const size = desk_->size()) size->ended(job, *desk_);
        if (throttle_) throttle_->ended(job, *desk_);
        if (colocation_) colocation_->ended(job);
        desk_->ended(vc, job);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::job_withdrawn: {
        VcState& vc = vcs_[index(desk_->view().progress(job).vc)];
        if (!is_aside(vc, job)) pass_->withdrawn(vc, job);
        desk_->withdraw(vc, job);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::job_adopted: {
        VcState& vc = vcs_[index(desk_->view().progress(job).vc)];
        desk_->believe(job);
        desk_->adopt(vc, job);
        pass_->adopted(vc, job);
        if (Size* const size = desk_->size()) size->started(job, *desk_);
        if (throttle_) throttle_->started(job, *desk_);
        if (colocation_) colocation_->started(job);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::job_arrived: {
        VcState& vc = vcs_[index(desk_->view().progress(job).vc)];
        desk_->believe(job);
        join(vc, job);
        if (!is_aside(vc, job)) pass_->arrived(vc, job);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::capacity_changed: {
        VcState& vc = vcs_[event.subject];
        vc.blocked = kNoJob;
        pass_->capacity_changed(vc);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::timer:
        pass_->timer(vcs_, need_);
        if (rank_delay_ > Duration{0}) {
          for (VcState& vc : vcs_) rank_late(vc);
        }
        break;
    }
  }

  void join(VcState& vc, JobId job) {
    if (rank_delay_ == Duration{0}) return desk_->enqueue(vc, job);
    rank_late(vc);
    Unranked& unranked = unranked_[index(vc.vc)];
    const bool queue_is_fresh = vc.waiting.size() == unranked.jobs.size();
    if (!queue_is_fresh) return desk_->enqueue(vc, job);
    // Nobody has a rank: fewest GPUs first, until ranks are known.
    desk_->enqueue_at(vc, job, 0, desk_->view().request(job).gpus);
    unranked.jobs.push_back(job);
    unranked.since = desk_->now();
  }

  /// Ranks the jobs that found the queue empty, once the time for it has come.
  void rank_late(VcState& vc) {
    Unranked& unranked = unranked_[index(vc.vc)];
    if (unranked.jobs.empty() || desk_->now() < unranked.since + rank_delay_) return;
    for (const JobId job : unranked.jobs) {
      if (desk_->view().progress(job).phase != Phase::waiting) continue;
      vc.waiting.erase(desk_->demand_id(job), desk_->key(job));
      desk_->enqueue(vc, job);
      need_.push_back(vc.vc);
    }
    unranked.jobs.clear();
  }

  void wake_for_ranks() {
    for (const VcId vc : need_) {
      Unranked& unranked = unranked_[index(vc)];
      if (vcs_[index(vc)].waiting.empty()) unranked.jobs.clear();
      if (!unranked.jobs.empty()) desk_->plan().wake(unranked.since + rank_delay_);
    }
  }

  struct Unranked {
    std::vector<JobId> jobs;
    Time since{};
  };

  std::unique_ptr<Desk> desk_;
  std::optional<Colocation> colocation_;  // none = every GPU asked for whole is
  std::unique_ptr<Throttle> throttle_;    // null = nobody is slowed
  std::unique_ptr<Pass> pass_;
  std::unique_ptr<NodeKeeper> keeper_;  // null = every node stays on
  std::vector<VcState> vcs_;
  std::vector<Unranked> unranked_;
  std::vector<VcId> need_;
  std::vector<VcId> regrouped_;              // where quotas let others wait since the last runs
  std::optional<QuotaKeeper> quota_keeper_;  // none = there were no quotas so far
  Duration rank_delay_;
};

}  // namespace

std::unique_ptr<Policy> make_pipeline(const Composition& composition,
                                      std::unique_ptr<predict::Estimator> estimator,
                                      MayShare may_share) {
  return std::make_unique<Pipeline>(composition, std::move(estimator), std::move(may_share));
}

}  // namespace almanac::policy
