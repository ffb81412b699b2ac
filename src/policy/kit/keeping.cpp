// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/keeping.h"

#include <algorithm>
#include <utility>

#include "policy/contract/may_stop.h"
#include "policy/kit/aside.h"
#include "policy/kit/empty_nodes.h"
#include "policy/kit/least_loss.h"
#include "policy/registry.h"

namespace almanac::policy {

Keeping::Keeping(std::unique_ptr<Policy> others, std::function<bool(JobId)> is_kept, IfFull if_full,
                 bool resizes)
    : others_(std::move(others)),
      is_kept_(std::move(is_kept)),
      if_full_(if_full),
      resizes_(resizes),
      desk_(registry().orders.make("fifo"), registry().placements.make("consolidate", {}), nullptr,
            nullptr, nullptr) {
  desk_.set_doubted(doubted_);
}

void Keeping::tell_change(VcId vc) {
  const Event changed{EventKind::capacity_changed, static_cast<std::uint32_t>(index(vc))};
  const bool is_told = std::any_of(told_.begin(), told_.end(), [&](const Event& each) {
    return each.kind == changed.kind && each.subject == changed.subject;
  });
  if (!is_told) told_.push_back(changed);
}

bool Keeping::take_in(const Event& event, const View& view) {
  const JobId job{event.subject};
  switch (event.kind) {
    case EventKind::job_arrived:
    case EventKind::job_adopted:
      if (!is_kept_(job)) return false;
      kept_.insert(job);
      if (event.kind == EventKind::job_arrived) waiting_.push_back(job);
      return true;
    case EventKind::job_failed:
      if (!kept_.contains(job)) return false;
      waiting_.push_back(job);
      return true;
    case EventKind::job_ended:
    case EventKind::job_withdrawn:
      if (kept_.erase(job) == 0) return false;
      std::erase(waiting_, job);
      tell_change(view.progress(job).vc);
      return true;
    case EventKind::job_released:
    case EventKind::job_reported:
      return kept_.contains(job);
    default:
      return false;
  }
}

Keeping::NodeHolds Keeping::held_for_good(const View& view) const {
  NodeHolds held;
  for (const JobId job : kept_) {
    if (view.progress(job).phase != Phase::running) continue;
    for (const cluster::Grant& grant : view.grants(job)) held[grant.node] += grant.count();
  }
  return held;
}

void Keeping::note_other(const Event& event) {
  switch (event.kind) {
    case EventKind::job_arrived:
    case EventKind::job_adopted:
      others_jobs_.insert(JobId{event.subject});
      return;
    case EventKind::job_ended:
    case EventKind::job_withdrawn:
      others_jobs_.erase(JobId{event.subject});
      return;
    default:
      return;
  }
}

std::vector<JobId> Keeping::by_loss(VcId vc, const View& view, const Plan& plan) const {
  std::vector<JobId> jobs;
  for (const JobId job : others_jobs_) {
    const Progress& state = view.progress(job);
    if (state.phase == Phase::running && state.vc == vc && plan.find(job) == nullptr) {
      jobs.push_back(job);
    }
  }
  sort_by_loss(jobs, view);
  if (if_full_ == IfFull::empty_nodes) {
    std::erase_if(jobs, [&](JobId job) { return !may_stop(view.request(job), Stops::all); });
    return by_cheapest_node(jobs, resizes_, view);
  }
  return jobs;
}

bool Keeping::reclaim_for(JobId job, const View& view, Plan& plan) {
  const Progress& state = view.progress(job);
  const cluster::Demand& demand = view.demand(state.demand);
  if (!desk_.is_within_quotas(demand)) return false;
  const auto grants = eviction_.make_room_from(state.vc, demand, by_loss(state.vc, view, plan));
  if (grants.empty()) return false;
  for (const JobId victim : eviction_.victims()) {
    plan.set(victim, {});
    stops_.push_back({EventKind::job_failed, static_cast<std::uint32_t>(index(victim))});
  }
  plan.set(job, {.grants = grants});
  return true;
}

bool Keeping::reclaim(const View& view, Plan& plan) {
  std::erase_if(waiting_, [&](JobId job) {
    const bool starts =
        start_now(desk_.placement(), doubted_, job, view, plan) || reclaim_for(job, view, plan);
    if (starts) tell_change(view.progress(job).vc);
    return starts;
  });
  if (stops_.empty()) return false;
  stops_.insert(stops_.end(), told_.begin(), told_.end());
  return true;
}

void Keeping::hear(std::span<const Event> events, const View& view) {
  const bool is_own_timer = own_wake_ == view.now && !others_wake_now_;
  told_ = std::exchange(stops_, {});
  for (const Event& event : events) {
    if (take_in(event, view)) continue;
    if (is_own_timer && event.kind == EventKind::timer) continue;
    if (if_full_ != IfFull::wait) note_other(event);
    told_.push_back(event);
  }
}

void Keeping::decide(std::span<const Event> events, const View& view, Plan& plan) {
  desk_.open(view, plan);
  desk_.touched.clear();
  doubted_.hear(events, view);
  hear(events, view);
  others_wake_now_ = false;
  // The others must hear of each stop before they plan anything else. Jobs therefore stop only in a
  // decision in which the others have nothing to answer.
  const bool may_reclaim = if_full_ != IfFull::wait && !waiting_.empty();
  const bool others_hear = !told_.empty();
  others_decided_ = false;
  if (may_reclaim && !others_hear && reclaim(view, plan)) {
    own_wake_ = view.now;
    plan.wake(view.now);
    return;
  }
  decide_all(view, plan);
  if (!may_reclaim || !others_hear || waiting_.empty()) return;
  own_wake_ = view.now;
  plan.wake(view.now);
}

void Keeping::decide_all(const View& view, Plan& plan) {
  const std::vector<cluster::Grant> before = std::exchange(aside_, {});
  const NodeHolds held = waiting_.empty() ? NodeHolds{} : held_for_good(view);
  std::erase_if(waiting_, [&](JobId job) {
    if (start_now(desk_.placement(), doubted_, job, view, plan)) {
      tell_change(view.progress(job).vc);
      return true;
    }
    boot_for(desk_.placement(), job, view, plan);
    set_aside(job, held, view, plan.ledger, aside_);
    return false;
  });
  if (aside_ != before) {
    for (const auto& each : {before, aside_}) {
      for (const cluster::Grant& grant : each) {
        tell_change(view.cluster.nodes[index(grant.node)].vc);
      }
    }
  }
  if (!told_.empty()) {
    std::stable_sort(told_.begin(), told_.end(),
                     [](const Event& a, const Event& b) { return a.kind < b.kind; });
    others_->decide(told_, view, plan);
    others_decided_ = true;
    others_stopped_.clear();
    for (const Plan::Change& change : plan.changes()) {
      if (change.action == Plan::Action::stop) others_stopped_.push_back(change.job);
    }
    others_wake_now_ =
        std::find(plan.wakes.begin(), plan.wakes.end(), view.now) != plan.wakes.end();
  }
  for (const cluster::Grant& grant : aside_) plan.ledger.give_back(grant);
}

Reason Keeping::why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const {
  const std::size_t before = ledger.mark();
  const Event stopped{EventKind::job_failed, static_cast<std::uint32_t>(index(job))};
  const bool is_unheard = std::any_of(stops_.begin(), stops_.end(), [&](const Event& each) {
    return each.kind == stopped.kind && each.subject == stopped.subject;
  });
  if (is_unheard || kept_.contains(job)) return short_of(job, view, ledger);
  for (const cluster::Grant& grant : aside_) {
    if (ledger.can_take(grant)) ledger.take(grant);
  }
  const Reason reason = others_->why_waiting(job, view, ledger);
  ledger.undo(before);
  return reason;
}

void Keeping::line_up(std::vector<JobId>& line) const {
  const auto from = static_cast<std::ptrdiff_t>(line.size());
  others_->line_up(line);
  const auto put_first = [&](JobId job) {
    const VcId vc = desk_.view().progress(job).vc;
    const auto place = std::find_if(line.begin() + from, line.end(), [&](JobId each) {
      return desk_.view().progress(each).vc >= vc;
    });
    line.insert(place, job);
  };
  if (!others_decided_) std::for_each(others_stopped_.begin(), others_stopped_.end(), put_first);
  // Kept jobs are the first of their virtual cluster, in the order in which they came.
  std::for_each(waiting_.rbegin(), waiting_.rend(), put_first);
}

bool keeps_apart(const Composition& composition) {
  const TraitSet traits = registry().traits(composition);
  return traits.any_of({Trait::stops_jobs, Trait::stops_marked, Trait::moves_jobs,
                        Trait::resizes_jobs, Trait::gives_cores});
}

std::unique_ptr<Policy> keeping(std::unique_ptr<Policy> policy, const Composition& composition,
                                std::function<bool(JobId)> is_kept, IfFull if_full) {
  if (if_full == IfFull::wait && !keeps_apart(composition)) return policy;
  const bool resizes = registry().traits(composition).has(Trait::resizes_jobs);
  return std::make_unique<Keeping>(std::move(policy), std::move(is_kept), if_full, resizes);
}

}  // namespace almanac::policy
