// SPDX-License-Identifier: Apache-2.0

/// \file
/// Spread over the lowest-numbered nodes that have free GPUs.
///
/// Source   Hu et al., SC'21, the artifact's random placer, which is first fit.
#include <algorithm>

#include "policy/placement/scatter.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class FirstFit final : public Placement {
 public:
  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng&,
             std::vector<cluster::Grant>& grants) const override {
    return scatter(ledger, vc, demand, grants, [](const cluster::Pool& pool) {
      std::uint32_t first = cluster::NodeSet::kNone;
      for (std::size_t free = 1; free < pool.by_free.size(); ++free) {
        first = std::min(first, pool.by_free[free].first());
      }
      return pool.nodes[first];
    });
  }
};

}  // namespace

void register_first_fit(Registry& registry) {
  registry.add_placement({"first_fit", "spread over the lowest-numbered nodes that have free GPUs",
                          "Hu et al. SC'21 artifact"},
                         [] { return std::make_unique<FirstFit>(); });
}

}  // namespace almanac::policy::placement
