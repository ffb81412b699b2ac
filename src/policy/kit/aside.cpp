// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/aside.h"

#include <algorithm>
#include <tuple>

#include "policy/kit/placer.h"

namespace almanac::policy {
namespace {

/// Returns how many tasks of a CPU job fit on an empty node of `pool`.
int tasks_on_a_node(const cluster::Pool& pool, const cluster::Demand& demand) {
  int tasks = demand.tasks;
  if (demand.cpu_milli > 0) tasks = std::min(tasks, pool.cpu_milli / demand.cpu_milli);
  if (demand.memory_mb > 0) tasks = std::min(tasks, pool.memory_mb / demand.memory_mb);
  return tasks;
}

}  // namespace

bool start_now(const Placement& placement, const DoubtedNodes& doubted, JobId job, const View& view,
               Plan& plan) {
  const Progress& state = view.progress(job);
  const cluster::Demand& demand = view.demand(state.demand);
  if (plan.quotas != nullptr && !plan.quotas->has_room(demand.claim)) return false;
  std::vector<cluster::Grant> grants;
  const bool fits = doubted.avoid(plan.ledger, grants, [&] {
    return place_demand(placement, plan.ledger, state.vc, demand, view.rng, grants);
  });
  if (!fits) return false;
  plan.set(job, {.grants = grants});
  return true;
}

void boot_for(const Placement& placement, JobId job, const View& view, Plan& plan) {
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
  bool fits = place_demand(placement, ledger, state.vc, demand, rng, grants);
  for (std::size_t at = 0; !fits && at < asleep.size(); ++at) {
    ledger.set_power(asleep[at], Power::on);
    grants.clear();
    fits = place_demand(placement, ledger, state.vc, demand, rng, grants);
  }
  ledger.undo(before);
  if (!fits) return;
  for (const cluster::Grant& grant : grants) {
    if (ledger.power(grant.node) == Power::asleep) plan.boot(grant.node);
  }
}

void set_aside(JobId job, const std::unordered_map<NodeId, int>& held, const View& view,
               cluster::Ledger& ledger, std::vector<cluster::Grant>& taken) {
  const Progress& state = view.progress(job);
  const cluster::Demand& demand = view.demand(state.demand);
  const auto held_on = [&](NodeId node) {
    const auto found = held.find(node);
    return found == held.end() ? 0 : found->second;
  };
  struct Room {
    cluster::Amount free;
    NodeId node;
    int units;  // of the job, as many as the node has room for when it is empty
    auto weight() const { return std::tuple(free.gpus, free.cpu_milli, free.memory_mb); }
  };
  std::vector<Room> rooms;
  for (const cluster::Pool& pool : ledger.pools(state.vc)) {
    if (!pool.suits(demand)) continue;
    const int units = demand.is_cpu_job() ? tasks_on_a_node(pool, demand) : pool.gpus_per_node;
    for (const NodeId node : pool.nodes) {
      if (pool.gpus_per_node - held_on(node) < std::min(demand.gpus, pool.gpus_per_node)) continue;
      rooms.push_back({ledger.room(node), node, units});
    }
  }
  std::stable_sort(rooms.begin(), rooms.end(),
                   [](const Room& a, const Room& b) { return a.weight() > b.weight(); });
  int left = demand.units();
  for (const Room& room : rooms) {
    const int units = std::min(left, room.units);
    const cluster::Amount wanted = demand.of(units);
    const cluster::Amount amount{std::min(room.free.gpus, wanted.gpus),
                                 std::min(room.free.cpu_milli, wanted.cpu_milli),
                                 std::min(room.free.memory_mb, wanted.memory_mb)};
    if (!amount.empty()) taken.push_back(ledger.take(room.node, amount));
    left -= units;
    if (left == 0) return;
  }
}

Reason short_of(JobId job, const View& view, const cluster::Ledger& ledger) {
  const Progress& state = view.progress(job);
  const cluster::Demand& demand = view.demand(state.demand);
  return {.kind = demand.is_cpu_job() ? ReasonKind::short_of_cores : ReasonKind::short_of_gpus,
          .wanted = demand.gpus,
          .available = ledger.free_gpus(state.vc, demand)};
}

}  // namespace almanac::policy
