// SPDX-License-Identifier: Apache-2.0

/// \file
/// As few nodes as possible: a job that fits on one node goes to the fullest node with room. A
/// larger job takes whole nodes and puts its remainder on the emptiest node with room.
///
/// Source   Hu et al., SC'21, section 2.1; the artifact's `consolidate` placer, with its choices
///          and ties (lowest number).
/// Differs  Nodes may have any number of GPUs. If a virtual cluster has several kinds of node, a
///          job stays within one kind if it can, the larger kind first; else it takes whole nodes
///          of all kinds with its GPU type, larger ones first. If the cluster file has racks, a job
///          of several whole nodes of one kind gets them in one rack if any has enough, else behind
///          the lowest switch that has.
#include "policy/placement/consolidate.h"

#include <algorithm>
#include <utility>

#include "policy/kit/kinds.h"
#include "policy/placement/switches.h"
#include "policy/placement/tasks.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

using cluster::Grant;
using cluster::Ledger;
using cluster::Pool;

bool place_on_one_node(Ledger& ledger, std::span<const Pool> pools, const cluster::Demand& demand,
                       std::vector<Grant>& grants) {
  if (demand.gpus > cluster::kMaxGpusPerNode) return false;
  const cluster::Amount wanted = demand.total();
  NodeId best = kNoNode;
  int least = cluster::kMaxGpusPerNode + 1;
  for (const Pool& pool : pools) {
    if (!pool.suits(demand)) continue;
    for (int free = pool.tightest(demand.gpus); free > 0 && free < least;
         free = pool.tightest(free + 1)) {
      const NodeId node = pool.find(free, wanted);
      if (node == kNoNode) continue;
      best = node;
      least = free;
    }
  }
  if (best == kNoNode) return false;
  grants.push_back(ledger.take(best, wanted));
  return true;
}

/// Takes `wanted` of a node with exactly `free` free GPUs. Returns false if it changed nothing.
bool take_of(Ledger& ledger, const Pool& pool, int free, const cluster::Amount& wanted,
             std::vector<Grant>& grants) {
  const NodeId node = pool.find(free, wanted);
  if (node == kNoNode) return false;
  grants.push_back(ledger.take(node, wanted));
  return true;
}

bool place_on_many_nodes(Ledger& ledger, const Pool& pool, const cluster::Demand& demand,
                         const IsOn& is_on, std::vector<Grant>& grants) {
  const int size = pool.gpus_per_node;
  const auto whole = static_cast<std::uint32_t>(demand.gpus / size);
  const int rest = demand.gpus % size;
  if (pool.free_gpus < demand.gpus || pool.count(size) < whole) return false;
  if (rest == 0) {
    const auto nodes = idle_behind_one_switch(ledger, pool, whole, demand.of(size), is_on);
    for (const NodeId node : nodes) grants.push_back(ledger.take(node, demand.of(size)));
    if (!nodes.empty()) return true;
  }
  const std::size_t before = ledger.mark();
  const std::size_t had = grants.size();
  bool fits = true;
  for (std::uint32_t taken = 0; fits && taken < whole; ++taken) {
    fits = take_of(ledger, pool, size, demand.of(size), grants);
  }
  if (fits && rest > 0) {
    int free = pool.most_free();
    while (free >= rest && !take_of(ledger, pool, free, demand.of(rest), grants)) --free;
    fits = free >= rest;
  }
  if (fits) return true;
  ledger.undo(before);
  grants.resize(had);
  return false;
}

bool place_in_one_kind(Ledger& ledger, std::span<const Pool> pools, const cluster::Demand& demand,
                       const IsOn& is_on, std::vector<Grant>& grants) {
  const Pool* chosen = nullptr;
  int smaller_than = cluster::kMaxGpusPerNode + 1;
  do {
    chosen = nullptr;
    for (const Pool& pool : pools) {
      if (!pool.suits(demand) || pool.gpus_per_node >= std::min(smaller_than, demand.gpus))
        continue;
      if (chosen == nullptr || pool.gpus_per_node > chosen->gpus_per_node) chosen = &pool;
    }
    if (chosen == nullptr) return false;
    for (const Pool& pool : pools) {
      if (pool.gpus_per_node == chosen->gpus_per_node && pool.suits(demand) &&
          place_on_many_nodes(ledger, pool, demand, is_on, grants)) {
        return true;
      }
    }
    smaller_than = chosen->gpus_per_node;
  } while (smaller_than > 0);
  return false;
}

/// Takes `rest` GPUs of the emptiest node with room. Returns false if it changed nothing.
bool take_rest(Ledger& ledger, Kinds kinds, int rest, const cluster::Demand& demand,
               std::vector<Grant>& grants) {
  const cluster::Amount wanted = demand.of(rest);
  NodeId best = kNoNode;
  int most = rest - 1;
  for (const Pool* const pool : kinds) {
    for (int free = pool->most_free(); free > most; --free) {
      const NodeId node = pool->find(free, wanted);
      if (node == kNoNode) continue;
      best = node;
      most = free;
    }
  }
  if (best == kNoNode) return false;
  grants.push_back(ledger.take(best, wanted));
  return true;
}

/// Takes whole nodes of all kinds, and one node for the remainder as soon as one has room.
bool place_across(Ledger& ledger, Kinds kinds, const cluster::Demand& demand,
                  std::vector<Grant>& grants) {
  if (free_gpus(kinds) < demand.gpus) return false;
  std::vector<const Pool*> larger_first(kinds.begin(), kinds.end());
  std::stable_sort(larger_first.begin(), larger_first.end(), [](const Pool* a, const Pool* b) {
    return a->gpus_per_node > b->gpus_per_node;
  });
  const std::size_t before = ledger.mark();
  const std::size_t had = grants.size();
  int left = demand.gpus;
  for (const Pool* const pool : larger_first) {
    const int size = pool->gpus_per_node;
    while (left >= size && take_of(ledger, *pool, size, demand.of(size), grants)) left -= size;
    if (left == 0 || take_rest(ledger, kinds, left, demand, grants)) return true;
  }
  ledger.undo(before);
  grants.resize(had);
  return false;
}

class Consolidate final : public Placement {
 public:
  explicit Consolidate(IsOn is_on) : is_on_(std::move(is_on)) {}

  bool place(Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng&,
             std::vector<Grant>& grants) const override {
    if (demand.is_cpu_job()) return place_tasks(ledger, vc, demand, grants);
    return consolidate(ledger, vc, demand, is_on_, grants);
  }
  Footprint footprint(const cluster::Demand& demand, const Pool& pool) const override {
    if (demand.is_cpu_job() || pool.gpus_per_node == 0) return {};
    if (demand.gpus <= pool.gpus_per_node) return {1, demand.gpus};
    return {demand.gpus / pool.gpus_per_node, pool.gpus_per_node};
  }
  bool keeps_together(const cluster::Demand& demand, std::span<const Pool> pools) const override {
    if (demand.is_cpu_job()) return demand.tasks == 1;
    return std::all_of(pools.begin(), pools.end(), [&](const Pool& pool) {
      return !pool.suits(demand) || demand.gpus <= pool.gpus_per_node;
    });
  }

 private:
  IsOn is_on_;
};

}  // namespace

bool consolidate(Ledger& ledger, VcId vc, const cluster::Demand& demand, const IsOn& is_on,
                 std::vector<Grant>& grants) {
  return place_on_one_node(ledger, ledger.pools(vc), demand, grants) ||
         consolidate_on_several(ledger, vc, demand, is_on, grants);
}

bool consolidate_on_several(Ledger& ledger, VcId vc, const cluster::Demand& demand,
                            const IsOn& is_on, std::vector<Grant>& grants) {
  const std::span<const Pool> pools = ledger.pools(vc);
  return place_in_one_kind(ledger, pools, demand, is_on, grants) ||
         across_kinds(pools, demand,
                      [&](Kinds kinds) { return place_across(ledger, kinds, demand, grants); });
}

void register_consolidate(Registry& registry) {
  registry.placements.add(
      {"consolidate", "as few nodes as possible, fullest node first; waits rather than spreads",
       "Hu et al. SC'21 §2.1"},
      [](const Parameters&, const Host& host) {
        return std::make_unique<Consolidate>(host.is_on);
      });
}

}  // namespace almanac::policy::placement
