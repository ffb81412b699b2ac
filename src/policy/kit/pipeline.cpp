// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/pipeline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "policy/kit/age_cap.h"
#include "policy/kit/desk.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/kit/eviction.h"
#include "policy/kit/pipeline/node_keeper.h"
#include "policy/kit/quota_keeper.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

/// Binds a desk to the view and the plan of a question, and then again to those of the decision.
class Question {
 public:
  Question(Desk& desk, const View& view, Plan& plan) : desk_(desk), before_(desk.bound()) {
    desk.open(view, plan);
  }
  ~Question() { desk_.bind(before_); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

 private:
  Desk& desk_;
  OpenDecision::Bound before_;
};

class Pipeline final : public Policy, public CapsAge {
 public:
  Pipeline(const Composition& composition, Host host)
      : desk_(registry().orders.make(composition.order),
              registry().placements.make(composition.placement, host),
              registry().shapes.make(composition.shape), registry().sizes.make(composition.size),
              std::move(host.estimator)),
        throttle_(registry().throttles.make(composition.throttle)),
        pass_(registry().passes.make(composition.pass, desk_)),
        packing_(registry().packings.make(composition.packing, desk_, std::move(host.may_share))) {
    desk_.serve(pass_->needs());
    desk_.set_doubted(doubted_);
    if (packing_) desk_.set_packing(*packing_);
    const Traits& traits = registry().passes.at(composition.pass).traits;
    const TraitSet does = registry().traits(composition);
    may_move_ = does.any_of({Trait::stops_jobs, Trait::moves_jobs}) &&
                !does.any_of({Trait::resizes_jobs, Trait::gives_cores, Trait::chooses_cores,
                              Trait::parts_cluster, Trait::reserves});
    // What tells GPU jobs from CPU jobs is not told that a job becomes the other.
    offers_choice_ = !traits.bars.has(Trait::revises_waiting) &&
                     !traits.has.has(Trait::splits_queue) && desk_.size() == nullptr &&
                     throttle_ == nullptr;
    if (auto capacity = registry().capacities.make(composition.capacity)) {
      const bool strict = traits.has.has(Trait::keeps_line);
      keeper_ = std::make_unique<NodeKeeper>(desk_, std::move(capacity), strict, host.binds);
    }
  }

  bool cap_age(Duration cap) override {
    if (!pass_->bounds_wait_of_first()) return false;
    desk_.put_oldest_first(cap);
    caps_age_ = true;
    return true;
  }

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    desk_.open(view, plan);
    doubted_.hear(events, view);
    if (vcs_.empty()) add_vcs(view.cluster.vcs.size());
    if (!moved_.empty()) adopt_moved();
    need_.clear();
    if (!chosen_again_.empty()) std::swap(need_, chosen_again_);
    requeue_stopped();
    // Failed jobs wait already, and the next step may file waiting jobs again.
    for (const Event& event : events) {
      if (event.kind > EventKind::job_failed) break;
      if (event.kind == EventKind::job_failed) take_back(JobId{event.subject});
    }
    for (const JobId job : desk_.refile(vcs_)) {
      VcState& vc = vcs_[index(view.progress(job).vc)];
      if (!is_aside(vc, job)) pass_->refiled(vc, job);
      need_.push_back(vc.vc);
    }
    for (const Event& event : events) take(event);
    if (packing_) packing_->review(vcs_);
    for (const NodeId node : desk_.touched) offer(view.cluster.nodes[index(node)].vc);
    if (plan.quotas != nullptr) keep_quotas();
    if (need_.size() > 1) {
      std::sort(need_.begin(), need_.end());
      need_.erase(std::unique(need_.begin(), need_.end()), need_.end());
    }
    const bool may_choose = offers_choice_ && desk_.has_undecided();
    for (const VcId id : need_) {
      VcState& vc = vcs_[index(id)];
      if (may_choose) choose_again(vc);
      pass_->run(vc);
      while (keeper_ && keeper_->bind(vc)) pass_->run(vc);
    }
    if (may_choose) look_at_choices();
    // A job that quotas put aside after a start may have been in the way of others.
    if (!regrouped_.empty()) plan.wake(view.now);
    const std::size_t seen = desk_.touched.size();
    desk_.freed = false;
    if (packing_) {
      each_change(stops, [&](JobId job) { packing_->ended(job); });
      each_change(starts, [&](JobId job) { packing_->started(job); });
    }
    if (desk_.size() != nullptr) follow(*desk_.size());
    if (throttle_) follow(*throttle_);
    if (seen > 0) {
      desk_.touched.erase(desk_.touched.begin(),
                          desk_.touched.begin() + static_cast<std::ptrdiff_t>(seen));
    }
    if (desk_.freed) plan.wake(view.now);
    if (keeper_) keeper_->run(vcs_, need_);
    if (caps_age_) ask_wake();
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const Progress& state = view.progress(job);
    Plan scratch(ledger, view);
    const Question question(desk_, view, scratch);
    const cluster::Demand& demand = desk_.demand(job);
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
    if (!desk_.fits(state.vc, demand)) {
      if (reason.kind == ReasonKind::short_of_gpus && desk_.is_old(job)) {
        reason.kind = ReasonKind::oldest;
      }
      if (keeper_ && keeper_->holds_back(state.vc, job)) {
        reason.kind = ReasonKind::booting;
      } else if (const Reason* const stop = desk_.why_stopped(job)) {
        Reason stopped = *stop;
        stopped.wanted = reason.wanted;
        stopped.available = reason.available;
        return stopped;
      }
      return pass_->refused(vcs_[index(state.vc)], job, reason);
    }
    const VcState& vc = vcs_[index(state.vc)];
    // The job has just been stopped and joins the queue at the next decision.
    if (vc.waiting.empty()) return {.wanted = reason.wanted, .available = reason.available};
    const Reason blocked = pass_->blocker(vc, job);
    if (blocked.other == job) return {.wanted = reason.wanted, .available = reason.available};
    reason.kind = blocked.kind;
    reason.other = blocked.other;
    reason.precedence = blocked.precedence;
    const bool is_said = blocked.other == kNoJob || blocked.precedence.term != Term::none;
    if (!is_said && desk_.key(blocked.other) < desk_.key(job)) {
      reason.precedence = desk_.precedence(blocked.other, job);
    }
    return reason;
  }

  void line_up(std::vector<JobId>& line) const override {
    for (const VcState& vc : vcs_) {
      for (WaitingQueue::Walk at(vc.waiting); !at.at_end(); at.advance()) line.push_back(at.job());
    }
  }

 private:
  /// A job that becomes too old goes first then, not at the next event.
  void ask_wake() {
    const Time next = desk_.next_refile();
    if (next == kNever || (asked_ > desk_.now() && asked_ <= next)) return;
    asked_ = next;
    desk_.plan().wake(next);
  }

  void keep_quotas() {
    if (!quota_keeper_) {
      quota_keeper_.emplace(desk_, *pass_, vcs_, regrouped_);
      desk_.set_quota_keeper(*quota_keeper_);
    }
    quota_keeper_->look();
    need_.insert(need_.end(), regrouped_.begin(), regrouped_.end());
    regrouped_.clear();
  }

  /// What a job counted on may have gone to another.
  void look_at_choices() {
    for (const VcId vc : need_) {
      if (choose_again(vcs_[index(vc)])) chosen_again_.push_back(vc);
    }
    if (!chosen_again_.empty()) desk_.plan().wake(desk_.now());
  }

  /// Gives whether any waiting job asks something else than before.
  bool choose_again(VcState& vc) {
    const std::span<const JobId> refiled = desk_.choose_again(vc);
    for (const JobId job : refiled) pass_->refiled(vc, job);
    return !refiled.empty();
  }

  bool is_aside(const VcState& vc, JobId job) const {
    return vc.waiting.is_aside(desk_.demand_id(job));
  }

  /// Something of it has come free.
  void offer(VcId vc) {
    vcs_[index(vc)].blocked = kNoJob;
    need_.push_back(vc);
  }

  static bool stops(Plan::Action action) {
    return action == Plan::Action::stop || action == Plan::Action::move;
  }
  static bool starts(Plan::Action action) {
    return action == Plan::Action::start || action == Plan::Action::move;
  }
  /// Calls `act` with each job to which that happens; `act` may plan more.
  template <typename Act>
  void each_change(bool (*what)(Plan::Action), Act&& act) {
    for (std::size_t at = 0; at < desk_.plan().changes().size(); ++at) {
      const Plan::Change change = desk_.plan().changes()[at];
      if (what(change.action)) act(change.job);
    }
  }

  void follow(Follower& follower) {
    each_change(stops, [&](JobId job) { follower.ended(job, desk_); });
    each_change(starts, [&](JobId job) { follower.started(job, desk_); });
    follower.follow(desk_);
  }

  /// Whether the GPUs alone would fit.
  bool lacks_cores(VcId vc, const cluster::Demand& demand) const {
    if (demand.is_cpu_job()) return true;
    if (demand.cpu_milli == 0 && demand.memory_mb == 0) return false;
    return desk_.fits(vc, {.gpus = demand.gpus,
                           .gpu_types = demand.gpu_types,
                           .nodes = demand.nodes,
                           .gpu_milli = demand.gpu_milli,
                           .gpu_memory_mb = demand.gpu_memory_mb,
                           .profile = demand.profile,
                           .nvlink_gpus = demand.nvlink_gpus});
  }

  void change_capacity(VcId id) {
    VcState& vc = vcs_[index(id)];
    vc.blocked = kNoJob;
    pass_->capacity_changed(vc);
    need_.push_back(id);
  }

  void add_vcs(std::size_t count) {
    while (vcs_.size() < count) {
      vcs_.emplace_back();
      vcs_.back().vc = VcId{static_cast<std::uint32_t>(vcs_.size() - 1)};
    }
  }

  void requeue_stopped() {
    for (const JobId job : desk_.stopped) {
      VcState& vc = vcs_[index(desk_.view().progress(job).vc)];
      desk_.enqueue(vc, job);
      if (!is_aside(vc, job)) pass_->arrived(vc, job);
      need_.push_back(vc.vc);
    }
    desk_.stopped.clear();
  }

  /// A pass that keeps a book of running jobs finds those where they are now.
  void adopt_moved() {
    const View& view = desk_.view();
    for (const JobId job : moved_) {
      if (!view.grants(job).empty()) pass_->adopted(vcs_[index(view.progress(job).vc)], job);
    }
    moved_.clear();
  }

  /// A job that lost its nodes waits again.
  void take_back(JobId job) {
    VcState& vc = vcs_[index(desk_.view().progress(job).vc)];
    pass_->ended(vc, job);
    if (Size* const size = desk_.size()) size->ended(job, desk_);
    if (throttle_) throttle_->ended(job, desk_);
    if (packing_) packing_->ended(job);
    desk_.failed(vc, job);
    pass_->file(desk_, vc, job);
    if (!is_aside(vc, job)) pass_->arrived(vc, job);
    need_.push_back(vc.vc);
  }

  /// Moves the jobs of a node that will go in `notice_s` to others where they fit: they lose a
  /// restart, and not what they did since their last checkpoint. Those that are believed to end by
  /// then stay.
  void leave(NodeId node, double notice_s) {
    for (std::uint32_t at = 0; at < has_come_.size(); ++at) {
      const JobId job{at};
      if (!has_come_[at]) continue;
      if (desk_.view().progress(job).phase != Phase::running || !desk_.runs(job)) continue;
      const auto held = desk_.view().grants(job);
      const bool is_there = std::any_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
        return grant.node == node;
      });
      if (!is_there || desk_.is_paired(job) || !may_move(desk_, job)) continue;
      const double left_s = seconds(desk_.remaining(job));
      if (left_s > 0 && left_s <= notice_s) continue;
      move_off(job);
    }
  }
  void move_off(JobId job) {
    const std::size_t before = desk_.ledger().mark();
    desk_.give_back(job);
    std::vector<cluster::Grant> grants;
    const bool fits = desk_.place(desk_.ledger(), desk_.view().progress(job).vc, desk_.demand(job),
                                  desk_.view().rng, grants);
    if (fits && !doubted_.has_any(grants)) {
      pass_->ended(vcs_[index(desk_.view().progress(job).vc)], job);
      moved_.push_back(job);
      return desk_.move(job, grants);
    }
    desk_.ledger().undo(before);
  }

  /// Other jobs of the view may be decided about elsewhere.
  void note_came(JobId job) {
    if (!may_move_) return;
    if (has_come_.size() <= index(job)) has_come_.resize(desk_.view().num_jobs());
    has_come_[index(job)] = true;
  }

  void take(const Event& event) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_ended: {
        VcState& vc = vcs_[index(desk_.view().progress(job).vc)];
        desk_.beliefs().learn(job, desk_.view());
        pass_->ended(vc, job);
        if (Size* const size = desk_.size()) size->ended(job, desk_);
        if (throttle_) throttle_->ended(job, desk_);
        if (packing_) packing_->ended(job);
        desk_.ended(vc, job);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::job_withdrawn: {
        VcState& vc = vcs_[index(desk_.view().progress(job).vc)];
        if (!is_aside(vc, job)) pass_->withdrawn(vc, job);
        desk_.withdraw(vc, job);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::job_adopted: {
        VcState& vc = vcs_[index(desk_.view().progress(job).vc)];
        note_came(job);
        desk_.beliefs().believe(job, desk_.view());
        desk_.expect(job);
        desk_.adopt(vc, job);
        pass_->adopted(vc, job);
        if (Size* const size = desk_.size()) size->started(job, desk_);
        if (throttle_) throttle_->started(job, desk_);
        if (packing_) packing_->started(job);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::job_arrived: {
        VcState& vc = vcs_[index(desk_.view().progress(job).vc)];
        note_came(job);
        desk_.beliefs().believe(job, desk_.view());
        desk_.expect(job);
        pass_->file(desk_, vc, job);
        if (!is_aside(vc, job)) pass_->arrived(vc, job);
        need_.push_back(vc.vc);
        break;
      }
      case EventKind::capacity_changed:
        change_capacity(VcId{event.subject});
        break;
      case EventKind::node_down:
      case EventKind::node_up:
        change_capacity(desk_.view().cluster.nodes[event.subject].vc);
        break;
      case EventKind::job_failed:  // see take_back()
        break;
      case EventKind::job_released:
      case EventKind::job_reported:
      case EventKind::signal_changed:
        break;  // no slot asks
      case EventKind::node_notice:
        if (may_move_) leave(NodeId{event.subject}, event.value);
        break;
      case EventKind::timer:
        pass_->timer(vcs_, need_);
        break;
    }
  }

  DoubtedNodes doubted_;
  mutable Desk desk_;                   // a question is asked through it, and leaves it as it was
  std::unique_ptr<Throttle> throttle_;  // null = no job is slowed
  std::unique_ptr<Pass> pass_;
  std::unique_ptr<Packing> packing_;    // null = every GPU asked for whole is
  std::unique_ptr<NodeKeeper> keeper_;  // null = every node stays on
  bool may_move_ = false;               // whether jobs leave a node that will go
  std::vector<bool> has_come_;          // of each job, where that is so
  std::vector<JobId> moved_;            // off such a node, in the last decision
  bool caps_age_ = false;               // whether old jobs go first
  Time asked_ = kNoTime;                // the last wake for that
  bool offers_choice_ = false;          // whether jobs take what is free of what they accept
  std::vector<VcState> vcs_;
  std::vector<VcId> need_;
  std::vector<VcId> chosen_again_;           // where a job asks something else since the last runs
  std::vector<VcId> regrouped_;              // where quotas let others wait since the last runs
  std::optional<QuotaKeeper> quota_keeper_;  // none = there were no quotas so far
};

}  // namespace

std::unique_ptr<Policy> make_pipeline(const Composition& composition, Host host) {
  return std::make_unique<Pipeline>(composition, std::move(host));
}

}  // namespace almanac::policy
