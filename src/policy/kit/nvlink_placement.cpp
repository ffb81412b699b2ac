// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/nvlink_placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "policy/kit/kinds.h"

namespace almanac::policy {
namespace {

/// The units of a demand that a node has room for. A unit is a GPU; for a demand with a number of
/// nodes it is the job's part of one node.
struct RoomOnNode {
  NodeId node{};
  int units = 0;
};

struct RoomInDomain {
  std::vector<RoomOnNode> nodes;
  int units = 0;
};

/// How the groups of a demand are counted.
struct Groups {
  int unit_gpus = 1;
  int units = 1;   ///< Of a group.
  int groups = 1;  ///< Of the job.

  explicit Groups(const cluster::Demand& demand)
      : unit_gpus(demand.nodes > 0 ? demand.gpus / demand.nodes : 1),
        units(demand.nvlink_gpus / std::gcd(demand.nvlink_gpus, unit_gpus)),
        groups(demand.gpus / unit_gpus / units) {}
};

std::map<NodeId, RoomInDomain> rooms(const cluster::Ledger& ledger, Kinds kinds,
                                     const cluster::Demand& demand, const Groups& of) {
  std::map<NodeId, RoomInDomain> made;
  for (const cluster::Pool* const pool : kinds) {
    for (const NodeId node : pool->nodes) {
      if (ledger.free_on(node) < of.unit_gpus) continue;
      const int gpus = ledger.units(node, demand);
      const int units = demand.nodes > 0 ? int{gpus >= of.unit_gpus} : gpus;
      if (units == 0) continue;
      RoomInDomain& domain = made[ledger.domain(node)];
      domain.nodes.push_back({node, units});
      domain.units += units;
    }
  }
  return made;
}

/// Returns the position of the smallest of `sizes` that is at least `wanted`, else of the largest;
/// the first of equals.
std::size_t best_fit(const std::vector<int>& sizes, int wanted) {
  std::size_t best = 0;
  for (std::size_t at = 1; at < sizes.size(); ++at) {
    const bool is_enough = sizes[best] >= wanted;
    const bool is_better =
        is_enough ? sizes[at] >= wanted && sizes[at] < sizes[best] : sizes[at] > sizes[best];
    if (is_better) best = at;
  }
  return best;
}

void take_units(cluster::Ledger& ledger, std::vector<RoomOnNode> nodes, int units, int unit_gpus,
                const cluster::Demand& demand, std::vector<cluster::Grant>& grants) {
  while (units > 0) {
    std::vector<int> sizes;
    for (const RoomOnNode& each : nodes) sizes.push_back(each.units);
    const std::size_t at = best_fit(sizes, units);
    const int taken = std::min(units, nodes[at].units);
    grants.push_back(ledger.take(nodes[at].node, demand.of(taken * unit_gpus)));
    units -= taken;
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

bool place_in(cluster::Ledger& ledger, Kinds kinds, const cluster::Demand& demand,
              std::vector<cluster::Grant>& grants) {
  const Groups of(demand);
  std::vector<RoomInDomain> domains;
  std::vector<int> sizes;  // in groups
  int free = 0;
  for (auto& [id, room] : rooms(ledger, kinds, demand, of)) {
    if (room.units < of.units) continue;
    sizes.push_back(room.units / of.units);
    free += sizes.back();
    domains.push_back(std::move(room));
  }
  if (free < of.groups) return false;
  for (int left = of.groups; left > 0;) {
    const std::size_t at = best_fit(sizes, left);
    const int taken = std::min(left, sizes[at]);
    take_units(ledger, std::move(domains[at].nodes), taken * of.units, of.unit_gpus, demand,
               grants);
    left -= taken;
    sizes[at] = 0;
  }
  return true;
}

class NvlinkPlacement final : public Placement {
 public:
  explicit NvlinkPlacement(std::unique_ptr<Placement> other) : other_(std::move(other)) {}

  bool place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
             std::vector<cluster::Grant>& grants) const override {
    if (demand.nvlink_gpus == 0) return other_->place(ledger, vc, demand, rng, grants);
    if (demand.nodes == 0) {
      const std::size_t before = ledger.mark();
      std::vector<cluster::Grant> usual;
      if (other_->place(ledger, vc, demand, rng, usual)) {
        if (ledger.in_domains(usual, demand.nvlink_gpus)) {
          grants.insert(grants.end(), usual.begin(), usual.end());
          return true;
        }
        ledger.undo(before);
      }
    }
    return place_groups(ledger, vc, demand, grants);
  }
  bool draws() const override { return other_->draws(); }
  bool places_parts() const override { return other_->places_parts(); }
  void expect(const cluster::Demand& demand) override { other_->expect(demand); }
  Footprint footprint(const cluster::Demand& demand, const cluster::Pool& pool) const override {
    return demand.nvlink_gpus == 0 ? other_->footprint(demand, pool) : Footprint{};
  }
  bool keeps_together(const cluster::Demand& demand,
                      std::span<const cluster::Pool> pools) const override {
    return demand.nvlink_gpus == 0 && other_->keeps_together(demand, pools);
  }

 private:
  std::unique_ptr<Placement> other_;
};

}  // namespace

std::unique_ptr<Placement> make_nvlink_placement(std::unique_ptr<Placement> other) {
  return std::make_unique<NvlinkPlacement>(std::move(other));
}

bool place_groups(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand,
                  std::vector<cluster::Grant>& grants) {
  if (demand.gpus % demand.nvlink_gpus != 0) return false;
  return by_kind(ledger.pools(vc), demand,
                 [&](Kinds kinds) { return place_in(ledger, kinds, demand, grants); });
}

int free_in_groups(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand) {
  int most = 0;
  by_kind(ledger.pools(vc), demand, [&](Kinds kinds) {
    const Groups of(demand);
    int groups = 0;
    for (const auto& [id, room] : rooms(ledger, kinds, demand, of)) groups += room.units / of.units;
    most = std::max(most, groups * of.units * of.unit_gpus);
    return false;
  });
  return most;
}

}  // namespace almanac::policy
