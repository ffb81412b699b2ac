// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs of a node that are close to each other, on the node where that is best and fragments least.
///
/// Source   Amaral et al., SC'17: the choice with the largest utility to the system. A choice with
///          too little utility to the job does not count, and the job waits (TOPO-AWARE-P).
/// Differs  cluster/topology/layout.h says how the utilities differ from the paper's. All jobs have
///          one least utility; in the paper each states its own. A job may start below it on GPUs
///          where a larger job would be above it, so a small job can use what a large one can.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "policy/placement/consolidate.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

using cluster::Grant;
using cluster::Ledger;
using cluster::Pool;
using topology::Layout;

using SharedLayout = std::shared_ptr<const Layout>;

/// Returns a layout in which all GPUs are equally close.
SharedLayout even_layout(int gpus) {
  const auto size = static_cast<std::size_t>(gpus);
  return std::make_shared<Layout>(
      std::vector<std::vector<double>>(size, std::vector<double>(size, 1)));
}

/// Caches the answers of a layout.
class Answers {
 public:
  explicit Answers(SharedLayout layout) : layout_(std::move(layout)) {}

  const Layout::Choice& choose(topology::Gpus free, int count) {
    if (known_.size() >= kMost) known_.clear();
    const auto [found, is_new] = known_.try_emplace({free, count});
    if (is_new) found->second = layout_->choose(free, count);
    return found->second;
  }

 private:
  static constexpr std::size_t kMost = 1 << 16;
  struct Question {
    topology::Gpus free = 0;
    int count = 0;

    bool operator==(const Question&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Question& asked) const {
      return (asked.free * 67 + static_cast<std::uint64_t>(asked.count)) * 0x9e3779b97f4a7c15ULL;
    }
  };

  SharedLayout layout_;
  std::unordered_map<Question, Layout::Choice, Hash> known_;
};

class Topology final : public Placement {
 public:
  Topology(double least_utility, const Host& host)
      : least_utility_(least_utility),
        others_(registry().placements.make("consolidate", host)),
        is_on_(host.is_on) {}

  bool place(Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
             std::vector<Grant>& grants) const override {
    const std::span<const Pool> pools = ledger.pools(vc);
    const bool is_told = std::any_of(pools.begin(), pools.end(), [&](const Pool& pool) {
      return pool.suits(demand) && pool.layout != nullptr;
    });
    if (demand.is_cpu_job() || !is_told) return others_->place(ledger, vc, demand, rng, grants);
    const Site site = best_site(ledger, pools, demand);
    if (site.node == kNoNode) return consolidate_on_several(ledger, vc, demand, is_on_, grants);
    const Grant grant{.node = site.node,
                      .gpus = site.choice.gpus,
                      .cpu_milli = demand.total().cpu_milli,
                      .memory_mb = demand.total().memory_mb};
    ledger.take(grant);
    grants.push_back(grant);
    return true;
  }
  Footprint footprint(const cluster::Demand& demand, const Pool& pool) const override {
    return others_->footprint(demand, pool);
  }
  bool keeps_together(const cluster::Demand& demand, std::span<const Pool> pools) const override {
    return (demand.is_cpu_job() || least_utility_ == 0) && others_->keeps_together(demand, pools);
  }

 private:
  struct Site {
    NodeId node = kNoNode;
    Layout::Choice choice{};
  };

  Site best_site(const Ledger& ledger, std::span<const Pool> pools,
                 const cluster::Demand& demand) const {
    Site best;
    const cluster::Amount wanted = demand.total();
    for (const Pool& pool : pools) {
      if (!pool.suits(demand) || demand.gpus > pool.gpus_per_node) continue;
      Answers& answers = answers_of(pool);
      for (int free = pool.tightest(demand.gpus); free > 0; free = pool.tightest(free + 1)) {
        const cluster::NodeSet& nodes = pool.by_free[static_cast<std::size_t>(free)];
        for (std::uint32_t member = nodes.first(); member != cluster::NodeSet::kNone;
             member = nodes.next(member)) {
          const NodeId node = pool.nodes[member];
          if (!ledger.room(node).covers(wanted)) continue;
          const cluster::GpuMask mask = ledger.free_mask(node);
          const Layout::Choice& choice = answers.choose(mask, demand.gpus);
          // Among equals the nearer GPUs of all kinds of nodes win, then the fullest node.
          const bool is_better = choice.system != best.choice.system
                                     ? choice.system > best.choice.system
                                     : choice.distance < best.choice.distance;
          if (!is_better || !is_near_enough(answers, mask, demand.gpus)) continue;
          best = {node, answers.choose(mask, demand.gpus)};
        }
      }
    }
    return best;
  }

  bool is_near_enough(Answers& answers, topology::Gpus free, int count) const {
    if (least_utility_ == 0) return true;
    for (int more = count; more <= std::popcount(free); ++more) {
      if (answers.choose(free, more).job >= least_utility_) return true;
    }
    return false;
  }

  Answers& answers_of(const Pool& pool) const {
    constexpr std::size_t kMostLayouts = 256;
    if (answers_.size() >= kMostLayouts) answers_.clear();
    SharedLayout layout = pool.layout;
    if (layout == nullptr) {
      SharedLayout& even = even_[pool.gpus_per_node];
      if (even == nullptr) even = even_layout(pool.gpus_per_node);
      layout = even;
    }
    return answers_.try_emplace(layout, layout).first->second;
  }

  double least_utility_;
  std::unique_ptr<Placement> others_;
  IsOn is_on_;
  mutable std::map<SharedLayout, Answers> answers_;
  mutable std::map<int, SharedLayout> even_;  // by GPUs of a node
};

}  // namespace

void register_topology(Registry& registry) {
  registry.placements.add(
      {.name = "topology",
       .summary = "best-connected GPUs, without breaking up other groups; like consolidate if the "
                  "connections are unknown",
       .source = "Amaral et al. SC'17",
       .parameters = {number("least_utility",
                             "lowest utility (0 to 1) at which a job starts rather than waits", 0,
                             0, 1)}},
      [](const Parameters& told, const Host& host) {
        return std::make_unique<Topology>(told.number("least_utility"), host);
      });
}

}  // namespace almanac::policy::placement
