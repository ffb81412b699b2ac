// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fullest node first: on one node if the job fits, else spread.
///
/// Source   Johnson et al., SIAM J. Comput. 1974 (best fit).
#include <utility>

#include "policy/placement/consolidate.h"
#include "policy/placement/scatter.h"
#include "policy/placement/tasks.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class BestFit final : public Placement {
 public:
  explicit BestFit(IsOn is_on) : is_on_(std::move(is_on)) {}

  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng&,
             std::vector<cluster::Grant>& grants) const override {
    if (demand.is_cpu_job()) return place_tasks(ledger, vc, demand, grants);
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      if (pool.suits(demand) && demand.gpus <= pool.gpus_per_node &&
          consolidate(ledger, vc, demand, is_on_, grants)) {
        return true;
      }
    }
    return scatter(ledger, vc, demand, grants, fullest);
  }

 private:
  IsOn is_on_;
};

}  // namespace

void register_best_fit(Registry& registry) {
  registry.placements.add(
      {"best_fit", "fullest node first; on one node if the job fits, else spread",
       "Johnson et al. 1974"},
      [](const Parameters&, const Host& host) { return std::make_unique<BestFit>(host.is_on); });
}

}  // namespace almanac::policy::placement
