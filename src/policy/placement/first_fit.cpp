// SPDX-License-Identifier: Apache-2.0

/// \file
/// Spread over the lowest-numbered nodes that have free GPUs.
///
/// Source   Hu et al., SC'21, the artifact's random placer, which is first fit.
#include <algorithm>

#include "policy/placement/scatter.h"
#include "policy/placement/tasks.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class FirstFit final : public Placement {
 public:
  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng&,
             std::vector<cluster::Grant>& grants) const override {
    if (demand.is_cpu_job()) return place_tasks(ledger, vc, demand, grants);
    const auto first = [](Kinds kinds, const cluster::Amount& unit) {
      NodeId found = kNoNode;
      for (const cluster::Pool* const pool : kinds) {
        for (int free = pool->tightest(1); free > 0; free = pool->tightest(free + 1)) {
          found = std::min(found, pool->find(free, unit));
        }
      }
      return found;
    };
    return scatter(ledger, vc, demand, grants, first);
  }
};

}  // namespace

void register_first_fit(Registry& registry) {
  registry.placements.add(
      {"first_fit", "spread over the lowest-numbered nodes that have free GPUs",
       "Hu et al. SC'21 artifact"},
      [](const Parameters&, const Host&) { return std::make_unique<FirstFit>(); });
}

}  // namespace almanac::policy::placement
