// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/keeping.h"

#include <algorithm>
#include <utility>

#include "policy/kit/aside.h"
#include "policy/registry.h"

namespace almanac::policy {

Keeping::Keeping(std::unique_ptr<Policy> others, std::function<bool(JobId)> is_kept)
    : others_(std::move(others)),
      is_kept_(std::move(is_kept)),
      placement_(registry().placements.make("consolidate", {})) {}

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

void Keeping::decide(std::span<const Event> events, const View& view, Plan& plan) {
  told_.clear();
  for (const Event& event : events) {
    if (!take_in(event, view)) told_.push_back(event);
  }
  const std::vector<cluster::Grant> before = std::exchange(aside_, {});
  const NodeHolds held = waiting_.empty() ? NodeHolds{} : held_for_good(view);
  std::erase_if(waiting_, [&](JobId job) {
    if (start_now(*placement_, job, view, plan)) {
      tell_change(view.progress(job).vc);
      return true;
    }
    boot_for(*placement_, job, view, plan);
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
  std::stable_sort(told_.begin(), told_.end(),
                   [](const Event& a, const Event& b) { return a.kind < b.kind; });
  if (!told_.empty()) others_->decide(told_, view, plan);
  for (const cluster::Grant& grant : aside_) plan.ledger.give_back(grant);
}

Reason Keeping::why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const {
  const std::size_t before = ledger.mark();
  if (kept_.contains(job)) {
    return short_of(job, view, ledger);
  }
  for (const cluster::Grant& grant : aside_) {
    if (ledger.can_take(grant)) ledger.take(grant);
  }
  const Reason reason = others_->why_waiting(job, view, ledger);
  ledger.undo(before);
  return reason;
}

void Keeping::line_up(std::vector<JobId>& line) const {
  line.insert(line.end(), waiting_.begin(), waiting_.end());
  others_->line_up(line);
}

bool keeps_apart(const Composition& composition) {
  const TraitSet traits = registry().traits(composition);
  return traits.any_of(
      {Trait::stops_jobs, Trait::moves_jobs, Trait::resizes_jobs, Trait::gives_cores});
}

std::unique_ptr<Policy> keeping(std::unique_ptr<Policy> policy, const Composition& composition,
                                std::function<bool(JobId)> is_kept) {
  if (!keeps_apart(composition)) return policy;
  return std::make_unique<Keeping>(std::move(policy), std::move(is_kept));
}

}  // namespace almanac::policy
