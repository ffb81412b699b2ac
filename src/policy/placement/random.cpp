// SPDX-License-Identifier: Apache-2.0

/// \file
/// Spread over nodes drawn at random.
///
/// Source   The lower bound for comparing placements.
#include "policy/placement/scatter.h"
#include "policy/placement/tasks.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class Random final : public Placement {
 public:
  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
             std::vector<cluster::Grant>& grants) const override {
    if (demand.is_cpu_job()) return place_tasks(ledger, vc, demand, grants);
    return scatter(ledger, vc, demand, grants, [&](Kinds kinds, const cluster::Amount& unit) {
      if (fullest(kinds, unit) == kNoNode) return kNoNode;
      std::size_t nodes = 0;
      for (const cluster::Pool* const pool : kinds) nodes += pool->nodes.size();
      for (;;) {  // some node has room, so the draw ends
        std::size_t drawn = rng.below(static_cast<std::uint32_t>(nodes));
        auto pool = kinds.begin();
        for (; drawn >= (*pool)->nodes.size(); ++pool) drawn -= (*pool)->nodes.size();
        const NodeId node = (*pool)->nodes[drawn];
        if (ledger.room(node).covers(unit)) return node;
      }
    });
  }
  bool draws() const override { return true; }
};

}  // namespace

void register_random(Registry& registry) {
  registry.placements.add(
      {"random", "spread over random nodes", "baseline"},
      [](const Parameters&, const Host&) { return std::make_unique<Random>(); });
}

}  // namespace almanac::policy::placement
