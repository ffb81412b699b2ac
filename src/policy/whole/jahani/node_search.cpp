// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/jahani/node_search.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <utility>

namespace almanac::policy {

/// What makes two nodes alike to a job.
struct NodeSearch::Room {
  const cluster::Pool* pool = nullptr;
  int gpus = 0;
  std::int32_t cpu_milli = 0;
  std::int32_t memory_mb = 0;
  double price = 0;
  double paid_s = 0;

  bool operator==(const Room&) const = default;
};

NodeSearch::Room NodeSearch::room_of(const Offer& node) const {
  const cluster::Amount room = ledger_.room(node.id);
  return {&ledger_.pool(node.id), room.gpus,  room.cpu_milli,
          room.memory_mb,         node.price, node.paid_s};
}

bool NodeSearch::any_free() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const Offer& node) { return ledger_.free_on(node.id) > 0; });
}

std::vector<NodeSearch::Choice> NodeSearch::place(const std::vector<Ask>& jobs, int most_steps) {
  steps_left_ = most_steps;
  best_cost_ = std::numeric_limits<double>::infinity();
  now_.assign(jobs.size(), {});
  branch(jobs, 0, 0);
  std::vector<Choice> made(jobs.size());
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const Pick& pick = best_[at];
    if (pick.way == nullptr) continue;
    use(pick, jobs[at]);
    made[at] = {nodes_[pick.node].id, pick.way->gpus};
  }
  return made;
}

double NodeSearch::cost_of(const Pick& pick, const Ask& job) const {
  if (pick.way == nullptr) return job.waits_cost;
  const Offer& node = nodes_[pick.node];
  return node.price * std::max(0.0, pick.way->time_s - node.paid_s) + pick.way->cost;
}

void NodeSearch::use(const Pick& pick, const Ask& job) {
  Offer& node = nodes_[pick.node];
  ledger_.take(node.id, job.demand.of(pick.way->gpus));
  node.paid_s = std::max(node.paid_s, pick.way->time_s);
}

void NodeSearch::branch(const std::vector<Ask>& jobs, std::size_t at, double cost) {
  double bound = cost;
  for (std::size_t it = at; it < jobs.size(); ++it) {
    double least = jobs[it].waits_cost;
    for (const Way& way : jobs[it].ways) least = std::min(least, way.cost);
    bound += least;
  }
  const bool has_any = !best_.empty() && best_cost_ < std::numeric_limits<double>::infinity();
  if (has_any && (bound >= best_cost_ || steps_left_-- <= 0)) return;
  if (at == jobs.size()) {
    best_cost_ = cost;
    best_ = now_;
    return;
  }
  std::vector<std::pair<double, Pick>> picks;
  std::vector<Room> seen;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const Room room = room_of(nodes_[node]);
    if (room.gpus == 0 || std::find(seen.begin(), seen.end(), room) != seen.end()) continue;
    seen.push_back(room);
    const int units = ledger_.units(nodes_[node].id, jobs[at].demand);
    for (const Way& way : jobs[at].ways) {
      if (way.gpu_type != room.pool->gpu_type || way.gpus > units) continue;
      const Pick pick{node, &way};
      picks.emplace_back(cost_of(pick, jobs[at]), pick);
    }
  }
  picks.emplace_back(jobs[at].waits_cost, Pick{});
  std::stable_sort(picks.begin(), picks.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  for (const auto& [more, pick] : picks) {
    const std::size_t before = ledger_.mark();
    const double paid_s = pick.way == nullptr ? 0 : nodes_[pick.node].paid_s;
    if (pick.way != nullptr) use(pick, jobs[at]);
    now_[at] = pick;
    branch(jobs, at + 1, cost + more);
    if (pick.way != nullptr) nodes_[pick.node].paid_s = paid_s;
    ledger_.undo(before);
  }
}

}  // namespace almanac::policy
