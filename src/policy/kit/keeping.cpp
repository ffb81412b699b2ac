// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/keeping.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "policy/kit/placer.h"
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

void Keeping::decide(std::span<const Event> events, const View& view, Plan& plan) {
  told_.clear();
  for (const Event& event : events) {
    if (!take_in(event, view)) told_.push_back(event);
  }
  const std::vector<cluster::Grant> before = std::exchange(aside_, {});
  std::erase_if(waiting_, [&](JobId job) {
    if (start(job, view, plan)) return true;
    wake_for(job, view, plan);
    set_aside(job, view, plan.ledger);
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

bool Keeping::start(JobId job, const View& view, Plan& plan) {
  const Progress& state = view.progress(job);
  const cluster::Demand& demand = view.demand(state.demand);
  if (plan.quotas != nullptr && !plan.quotas->has_room(demand.claim)) return false;
  std::vector<cluster::Grant> grants;
  if (!place_demand(*placement_, plan.ledger, state.vc, demand, view.rng, grants)) return false;
  plan.set(job, {.grants = grants});
  tell_change(state.vc);
  return true;
}

void Keeping::wake_for(JobId job, const View& view, Plan& plan) const {
  using cluster::Power;
  const Progress& state = view.progress(job);
  const cluster::Demand& demand = view.demand(state.demand);
  cluster::Ledger& ledger = plan.ledger;
  if (ledger.nodes(Power::asleep) == 0) return;
  if (plan.quotas != nullptr && !plan.quotas->has_room(demand.claim)) return;
  std::vector<NodeId> asleep;
  const std::size_t before = ledger.mark();
  for (std::uint32_t at = 0; at < view.cluster.nodes.size(); ++at) {
    const NodeId node{at};
    if (view.cluster.nodes[at].vc != state.vc) continue;
    if (ledger.power(node) == Power::booting) ledger.set_power(node, Power::on);
    if (ledger.power(node) == Power::asleep) asleep.push_back(node);
  }
  Rng rng = view.rng;  // a what-if draws no numbers of the policy's
  std::vector<cluster::Grant> grants;
  bool fits = place_demand(*placement_, ledger, state.vc, demand, rng, grants);
  for (std::size_t at = 0; !fits && at < asleep.size(); ++at) {
    ledger.set_power(asleep[at], Power::on);
    grants.clear();
    fits = place_demand(*placement_, ledger, state.vc, demand, rng, grants);
  }
  ledger.undo(before);
  if (!fits) return;
  for (const cluster::Grant& grant : grants) {
    if (ledger.power(grant.node) == Power::asleep) plan.boot(grant.node);
  }
}

void Keeping::set_aside(JobId job, const View& view, cluster::Ledger& ledger) {
  const Progress& state = view.progress(job);
  const cluster::Demand& demand = view.demand(state.demand);
  // GPUs that no end of another job will free.
  std::unordered_map<NodeId, int> held;
  for (const JobId other : kept_) {
    if (view.progress(other).phase != Phase::running) continue;
    for (const cluster::Grant& grant : view.grants(other)) held[grant.node] += grant.count();
  }
  struct Room {
    cluster::Amount free;
    NodeId node;
    int gpus;  // that it has
    auto weight() const { return std::tuple(free.gpus, free.cpu_milli, free.memory_mb); }
  };
  std::vector<Room> rooms;
  for (const cluster::Pool& pool : ledger.pools(state.vc)) {
    if (!pool.suits(demand)) continue;
    for (const NodeId node : pool.nodes) {
      if (pool.gpus_per_node - held[node] < std::min(demand.gpus, pool.gpus_per_node)) continue;
      rooms.push_back({ledger.room(node), node, pool.gpus_per_node});
    }
  }
  std::stable_sort(rooms.begin(), rooms.end(),
                   [](const Room& a, const Room& b) { return a.weight() > b.weight(); });
  int left = demand.gpus;
  for (const Room& room : rooms) {
    const cluster::Amount wanted =
        demand.is_cpu_job() ? demand.total() : demand.of(std::min(left, room.gpus));
    const cluster::Amount taken{std::min(room.free.gpus, wanted.gpus),
                                std::min(room.free.cpu_milli, wanted.cpu_milli),
                                std::min(room.free.memory_mb, wanted.memory_mb)};
    if (!taken.empty()) aside_.push_back(ledger.take(room.node, taken));
    left -= wanted.gpus;
    if (left <= 0) return;
  }
}

Reason Keeping::why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const {
  const std::size_t before = ledger.mark();
  if (kept_.contains(job)) {
    const Progress& state = view.progress(job);
    const cluster::Demand& demand = view.demand(state.demand);
    return {.kind = demand.is_cpu_job() ? ReasonKind::short_of_cores : ReasonKind::short_of_gpus,
            .wanted = demand.gpus,
            .available = ledger.free_gpus(state.vc, demand)};
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
