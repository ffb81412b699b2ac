// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/shaped_placement.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace almanac::policy {
namespace {

class ShapedPlacement final : public Placement {
 public:
  explicit ShapedPlacement(std::unique_ptr<Placement> other) : other_(std::move(other)) {}

  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
             std::vector<cluster::Grant>& grants) const override {
    const bool is_others = demand.nodes == 0 || demand.nvlink_gpus > 0;
    if (is_others) return other_->place(ledger, vc, demand, rng, grants);
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      if (pool.suits(demand) && place_in(ledger, pool, demand, grants)) return true;
    }
    return false;
  }
  bool draws() const override { return other_->draws(); }
  bool places_parts() const override { return other_->places_parts(); }
  void expect(const cluster::Demand& demand) override { other_->expect(demand); }
  Footprint footprint(const cluster::Demand& demand, const cluster::Pool& pool) const override {
    if (demand.nodes == 0 || demand.nvlink_gpus > 0) return other_->footprint(demand, pool);
    return {demand.nodes, demand.gpus / demand.nodes};
  }

 private:
  static bool place_in(cluster::Ledger& ledger, const cluster::Pool& pool,
                       const cluster::Demand& demand, std::vector<cluster::Grant>& grants) {
    const cluster::Amount each = demand.of(demand.gpus / demand.nodes);
    if (pool.free_gpus < demand.gpus) return false;
    // Taking GPUs moves a node in `by_free`, so all nodes are chosen before any is taken.
    std::vector<NodeId> chosen;
    const auto wanted = static_cast<std::size_t>(demand.nodes);
    for (int free = pool.tightest(each.gpus); free > 0; free = pool.tightest(free + 1)) {
      const cluster::NodeSet& nodes = pool.by_free[static_cast<std::size_t>(free)];
      for (std::uint32_t member = nodes.first();
           member != cluster::NodeSet::kNone && chosen.size() < wanted;
           member = nodes.next(member)) {
        const NodeId node = pool.nodes[member];
        if (ledger.room(node).covers(each)) chosen.push_back(node);
      }
    }
    if (chosen.size() < wanted) return false;
    for (const NodeId node : chosen) grants.push_back(ledger.take(node, each));
    return true;
  }

  std::unique_ptr<Placement> other_;
};

}  // namespace

std::unique_ptr<Placement> make_shaped_placement(std::unique_ptr<Placement> other) {
  return std::make_unique<ShapedPlacement>(std::move(other));
}

}  // namespace almanac::policy
