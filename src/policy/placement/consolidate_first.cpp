// SPDX-License-Identifier: Apache-2.0

/// \file
/// As few nodes as possible, else spread from the emptiest node down.
///
/// Source   Hu et al., SC'21, the artifact's consolidateFirst placer as intended (as shipped it
///          crashes).
#include <utility>

#include "policy/placement/consolidate.h"
#include "policy/placement/scatter.h"
#include "policy/placement/tasks.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class ConsolidateFirst final : public Placement {
 public:
  explicit ConsolidateFirst(IsOn is_on) : is_on_(std::move(is_on)) {}

  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng&,
             std::vector<cluster::Grant>& grants) const override {
    if (demand.is_cpu_job()) return place_tasks(ledger, vc, demand, grants);
    return consolidate(ledger, vc, demand, is_on_, grants) ||
           scatter(ledger, vc, demand, grants, emptiest);
  }

 private:
  IsOn is_on_;
};

}  // namespace

void register_consolidate_first(Registry& registry) {
  registry.placements.add(
      {"consolidate_first", "as few nodes as possible, else spread from the emptiest node down",
       "Hu et al. SC'21 artifact"},
      [](const Parameters&, const Host& host) {
        return std::make_unique<ConsolidateFirst>(host.is_on);
      });
}

}  // namespace almanac::policy::placement
