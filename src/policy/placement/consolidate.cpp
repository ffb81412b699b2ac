// SPDX-License-Identifier: Apache-2.0

/// \file
/// As few nodes as possible: a job that fits one node goes to the fullest node that has room, a
/// larger one takes whole nodes and puts its remainder on the next emptiest.
///
/// Source   Hu et al., SC'21, section 2.1; the artifact's `consolidate` placer, whose choices and
///          ties (lowest number) are kept.
/// Differs  Nodes may have any number of GPUs. Where a virtual cluster has several kinds of node,
///          a job stays within one kind; the larger kind is tried first for a multi-node job.
#include "policy/placement/consolidate.h"

#include <algorithm>

#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

using cluster::Grant;
using cluster::Ledger;
using cluster::Pool;

bool place_on_one_node(Ledger& ledger, std::span<const Pool> pools, const cluster::Demand& demand,
                       std::vector<Grant>& grants) {
  const Pool* tightest = nullptr;
  int least = cluster::kMaxGpusPerNode + 1;
  for (const Pool& pool : pools) {
    const int free = pool.suits(demand) ? pool.tightest(demand.gpus) : 0;
    if (free == 0 || free >= least) continue;
    tightest = &pool;
    least = free;
  }
  if (tightest == nullptr) return false;
  grants.push_back(ledger.take(tightest->lowest(least), demand.gpus));
  return true;
}

bool place_on_many_nodes(Ledger& ledger, const Pool& pool, int gpus, std::vector<Grant>& grants) {
  const int size = pool.gpus_per_node;
  const auto whole = static_cast<std::uint32_t>(gpus / size);
  const int rest = gpus % size;
  if (pool.free_gpus < gpus || pool.count(size) < whole) return false;
  int rest_free = 0;  // how many GPUs are free on the emptiest node beyond the whole ones
  if (rest > 0) {
    rest_free = size;
    if (pool.count(size) == whole) {
      do --rest_free;
      while (rest_free >= rest && pool.count(rest_free) == 0);
      if (rest_free < rest) return false;
    }
  }
  for (std::uint32_t taken = 0; taken < whole; ++taken) {
    grants.push_back(ledger.take(pool.lowest(size), size));
  }
  if (rest > 0) grants.push_back(ledger.take(pool.lowest(rest_free), rest));
  return true;
}

class Consolidate final : public Placement {
 public:
  bool place(Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng&,
             std::vector<Grant>& grants) const override {
    return consolidate(ledger, vc, demand, grants);
  }
};

}  // namespace

bool consolidate(Ledger& ledger, VcId vc, const cluster::Demand& demand,
                 std::vector<Grant>& grants) {
  const std::span<const Pool> pools = ledger.pools(vc);
  if (place_on_one_node(ledger, pools, demand, grants)) return true;
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
          place_on_many_nodes(ledger, pool, demand.gpus, grants)) {
        return true;
      }
    }
    smaller_than = chosen->gpus_per_node;
  } while (smaller_than > 0);
  return false;
}

void register_consolidate(Registry& registry) {
  registry.add_placement(
      {"consolidate", "as few nodes as possible, fullest node first; waits rather than spreads",
       "Hu et al. SC'21 §2.1"},
      [] { return std::make_unique<Consolidate>(); });
}

}  // namespace almanac::policy::placement
