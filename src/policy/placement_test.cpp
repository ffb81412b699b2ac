// SPDX-License-Identifier: Apache-2.0

/// \file
/// What every placement promises.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "policy/kit/shaped_placement.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

/// The first three are one type of GPU; of the second it is told how its GPUs are connected, of the
/// third of which sockets they are.
cluster::Cluster nodes_of_four_kinds() {
  using cluster::Between;
  cluster::Cluster made;
  made.add_vc("all");
  made.add_nodes({.gpus = 4, .cpus = 16}, 3);
  made.add_nodes({.gpus = 8,
                  .cpus = 64,
                  .sockets = 2,
                  .connections = {{Between::nvlink, {0, 5}, 2}, {Between::nvlink, {1, 2, 3}}}},
                 3);
  made.add_nodes({.gpus = 8, .cpus = 96, .sockets = 4}, 2);
  made.add_nodes({.gpus = 2, .gpu_type = "V100"}, 4);
  return made;
}

cluster::Demand random_gpu_demand() {
  cluster::Demand made{.gpus = *rc::gen::inRange(1, 25)};
  made.cpu_milli = 1000 * *rc::gen::inRange(0, 6);
  if (made.gpus % 2 == 0) made.nodes = *rc::gen::element(0, 0, 2);
  return made;
}

std::unique_ptr<Placement> any_placement() {
  const Entry entry = *rc::gen::elementOf(registry().placements.entries());
  Choice choice(entry.name);
  if (entry.name == "topology") {
    choice.told["least_utility"] = {*rc::gen::element(0., 0.3, 0.5, 1.)};
  }
  return make_shaped_placement(registry().placements.make(choice, {}));
}

RC_GTEST_PROP(AnyPlacement, FitsWhatIsCoveredByWhatFits, ()) {
  const auto placement = any_placement();
  const cluster::Cluster machines = nodes_of_four_kinds();
  cluster::Ledger ledger(machines);
  Rng rng(1);
  std::vector<cluster::Grant> grants;
  for (int job = 0; job < 8; ++job)
    placement->place(ledger, VcId{0}, random_gpu_demand(), rng, grants);
  const auto fits = [&](const cluster::Demand& demand) {
    const std::size_t before = ledger.mark();
    const bool made = placement->place(ledger, VcId{0}, demand, rng, grants);
    ledger.undo(before);
    return made;
  };
  const cluster::Demand larger = random_gpu_demand();
  cluster::Demand smaller = larger;
  smaller.gpus = larger.nodes > 0 ? larger.gpus : *rc::gen::inRange(1, larger.gpus + 1);
  smaller.cpu_milli = *rc::gen::inRange(0, larger.cpu_milli + 1);
  RC_PRE(larger.covers(smaller) && fits(larger));
  RC_ASSERT(fits(smaller));
}

RC_GTEST_PROP(AnyPlacement, TakesNoLessThanItsFootprint, ()) {
  const auto placement = any_placement();
  const cluster::Cluster machines = nodes_of_four_kinds();
  cluster::Ledger ledger(machines);
  Rng rng(1);
  for (int job = 0; job < 12; ++job) {
    const cluster::Demand demand = random_gpu_demand();
    std::vector<cluster::Grant> grants;
    if (!placement->place(ledger, VcId{0}, demand, rng, grants)) continue;
    for (const cluster::Pool& pool : ledger.pools(VcId{0})) {
      // All in one kind of nodes.
      const auto lies_here = [&](const cluster::Grant& grant) {
        return std::find(pool.nodes.begin(), pool.nodes.end(), grant.node) != pool.nodes.end();
      };
      if (!std::all_of(grants.begin(), grants.end(), lies_here)) continue;
      const Placement::Footprint print = placement->footprint(demand, pool);
      const auto fills = std::count_if(grants.begin(), grants.end(), [&](const auto& grant) {
        return lies_here(grant) && grant.amount().covers(demand.of(print.units));
      });
      RC_ASSERT(fills >= print.nodes);
    }
  }
}

}  // namespace
}  // namespace almanac::policy
