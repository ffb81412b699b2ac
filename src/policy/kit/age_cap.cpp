// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/age_cap.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "policy/kit/aside.h"
#include "policy/kit/placer.h"
#include "policy/registry.h"

namespace almanac::policy {

AgeCap::AgeCap(std::unique_ptr<Policy> others, Duration cap, Duration tenure, bool spares_trials)
    : others_(std::move(others)),
      cap_(cap),
      tenure_(tenure),
      spares_trials_(spares_trials),
      placement_(registry().placements.make("consolidate", {})) {}

void AgeCap::tell_change(VcId vc) {
  const Event changed{EventKind::capacity_changed, static_cast<std::uint32_t>(index(vc))};
  const bool is_told = std::any_of(told_.begin(), told_.end(), [&](const Event& each) {
    return each.kind == changed.kind && each.subject == changed.subject;
  });
  if (!is_told) told_.push_back(changed);
}

void AgeCap::note_waiting(JobId job, const View& view, Time since) {
  if (vc_of_.size() <= index(job)) vc_of_.resize(index(job) + 1, kNoVc);
  vc_of_[index(job)] = view.progress(job).vc;
  if (spares_trials_ && view.request(job).group != kNoName) return;
  due_.emplace(std::max(since + cap_, view.held_until(job)), job, since);
}

bool AgeCap::take_in(const Event& event, const View& view) {
  const JobId job{event.subject};
  switch (event.kind) {
    case EventKind::job_arrived:
      note_waiting(job, view, view.progress(job).since);
      return false;
    case EventKind::job_failed:
      if (!aged_.contains(job)) {
        note_waiting(job, view, view.now);
        return false;
      }
      waiting_.push_back(job);
      return true;
    case EventKind::job_ended:
    case EventKind::job_withdrawn:
      if (aged_.erase(job) == 0) return false;
      std::erase(waiting_, job);
      tell_change(view.progress(job).vc);
      return true;
    case EventKind::job_released:
    case EventKind::job_reported:
      return aged_.contains(job);
    case EventKind::timer:
      return true;  // told where `others` asked for it
    default:
      return false;
  }
}

void AgeCap::age(const View& view) {
  while (!due_.empty() && std::get<0>(*due_.begin()) <= view.now) {
    const auto [at, job, since] = *due_.begin();
    due_.erase(due_.begin());
    const Progress& state = view.progress(job);
    const bool still_waits = state.phase == Phase::waiting && state.since == since;
    if (!still_waits || aged_.contains(job)) continue;
    if (view.held_until(job) > view.now) {
      note_waiting(job, view, since);
      continue;
    }
    aged_.emplace(job, Aged{});
    waiting_.push_back(job);
    // One that comes too old already, as a service begins again, `others` never hear of.
    bool is_known = true;
    std::erase_if(told_, [&, job = job](const Event& event) {
      const bool is_its = event.subject == index(job) && (event.kind == EventKind::job_arrived ||
                                                          event.kind == EventKind::job_released ||
                                                          event.kind == EventKind::job_reported);
      is_known = is_known && !(is_its && event.kind == EventKind::job_arrived);
      return is_its;
    });
    if (!is_known) continue;
    told_.push_back({EventKind::job_withdrawn, static_cast<std::uint32_t>(index(job))});
  }
}

void AgeCap::hand_back(const View& view) {
  std::vector<JobId> back;
  for (const auto& [job, aged] : aged_) {
    if (view.progress(job).phase == Phase::running && aged.back <= view.now) back.push_back(job);
  }
  std::sort(back.begin(), back.end());
  for (const JobId job : back) {
    aged_.erase(job);
    told_.push_back({EventKind::job_adopted, static_cast<std::uint32_t>(index(job))});
  }
}

void AgeCap::start_or_set_aside(const View& view, Plan& plan) {
  const std::vector<cluster::Grant> before = std::exchange(aside_, {});
  aside_for_ = kNoJob;
  std::erase_if(waiting_, [&](JobId job) {
    if (start_now(*placement_, doubted_, job, view, plan)) {
      aged_.at(job).back = view.now + tenure_;
      plan.wake(aged_.at(job).back);
      tell_change(view.progress(job).vc);
      return true;
    }
    if (aside_for_ == kNoJob) {
      aside_for_ = job;
      boot_for(*placement_, job, view, plan);
      set_aside(job, {}, view, plan.ledger, aside_);
    }
    return false;
  });
  if (aside_ == before) return;
  for (const auto& each : {before, aside_}) {
    for (const cluster::Grant& grant : each) {
      tell_change(view.cluster.nodes[index(grant.node)].vc);
    }
  }
}

void AgeCap::note_stopped(const View& view, const Plan& plan) {
  for (const Plan::Change& each : plan.changes()) {
    if (each.action != Plan::Action::stop) continue;
    note_waiting(each.job, view, view.now);
    has_stopped_ = true;
  }
}

void AgeCap::ask_wakes(const View& view, Plan& plan) {
  if (due_.empty()) return;
  const Time next = std::get<0>(*due_.begin());
  if (asked_ != kNoTime && asked_ > view.now && asked_ <= next) return;
  asked_ = next;
  plan.wake(next);
}

void AgeCap::decide(std::span<const Event> events, const View& view, Plan& plan) {
  doubted_.hear(events, view);
  told_.clear();
  for (const Event& event : events) {
    if (!take_in(event, view)) told_.push_back(event);
  }
  bool is_woken = false;
  for (; !wakes_.empty() && wakes_.top() <= view.now; wakes_.pop()) is_woken = true;
  if (std::exchange(has_stopped_, false) || is_woken) told_.push_back({EventKind::timer});
  hand_back(view);
  age(view);
  start_or_set_aside(view, plan);
  std::stable_sort(told_.begin(), told_.end(),
                   [](const Event& a, const Event& b) { return a.kind < b.kind; });
  if (!told_.empty()) {
    const std::size_t asked_before = plan.wakes.size();
    others_->decide(told_, view, plan);
    for (std::size_t at = asked_before; at < plan.wakes.size(); ++at) wakes_.push(plan.wakes[at]);
    note_stopped(view, plan);
  }
  for (const cluster::Grant& grant : aside_) plan.ledger.give_back(grant);
  ask_wakes(view, plan);
}

Reason AgeCap::why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const {
  if (aged_.contains(job)) {
    Reason reason = short_of(job, view, ledger);
    if (reason.kind == ReasonKind::short_of_gpus) reason.kind = ReasonKind::oldest;
    return reason;
  }
  const std::size_t before = ledger.mark();
  for (const cluster::Grant& grant : aside_) {
    if (ledger.can_take(grant)) ledger.take(grant);
  }
  const Reason reason = others_->why_waiting(job, view, ledger);
  ledger.undo(before);
  if (aside_.empty()) return reason;
  const bool lacks_room = reason.kind == ReasonKind::short_of_gpus ||
                          reason.kind == ReasonKind::short_of_cores ||
                          reason.kind == ReasonKind::fragmented;
  if (!lacks_room) return reason;
  const Progress& state = view.progress(job);
  std::vector<cluster::Grant> grants;
  Rng rng = view.rng;  // a what-if draws no numbers of the policy's
  const bool would_fit =
      place_demand(*placement_, ledger, state.vc, view.demand(state.demand), rng, grants);
  ledger.undo(before);
  if (!would_fit) return reason;
  return {.kind = ReasonKind::set_aside, .wanted = reason.wanted, .other = aside_for_};
}

void AgeCap::line_up(std::vector<JobId>& line) const {
  std::vector<JobId> all = waiting_;
  others_->line_up(all);
  std::stable_sort(all.begin(), all.end(), [&](JobId one, JobId other) {
    return vc_of_[index(one)] < vc_of_[index(other)];
  });
  line.insert(line.end(), all.begin(), all.end());
}

std::unique_ptr<Policy> age_capped(std::unique_ptr<Policy> policy, const Composition& composition,
                                   Duration cap) {
  if (cap == kNoDuration) return policy;
  // Others run on what is reserved for an aged job until it can start; what is set aside idles.
  if (auto* const own = dynamic_cast<CapsAge*>(policy.get()); own != nullptr && own->cap_age(cap)) {
    return policy;
  }
  const TraitSet traits = registry().traits(composition);
  const bool stops = traits.any_of(
      {Trait::stops_jobs, Trait::stops_marked, Trait::moves_jobs, Trait::resizes_jobs});
  return std::make_unique<AgeCap>(std::move(policy), cap, stops ? cap : Duration{0},
                                  traits.has(Trait::ends_trials));
}

std::string age_cap_sentence(Duration cap) {
  return fmt::format(
      "In live use, a job that has waited {:g} h goes first, and free GPUs are reserved for it "
      "until it fits (serve --age-cap).",
      seconds(cap) / 3600);
}

}  // namespace almanac::policy
