// SPDX-License-Identifier: Apache-2.0

/// \file
/// Elastic batches: requests start at once, in a batch of their own next to the batches that run,
/// as many as leave all of them in time, those with the least slack first. A batch that has begun
/// always goes on. Batches start when an operator of those that run ends (super_kernel.h).
///
/// Source   Cui et al., ICCD'19 (Ebird): batches of different sizes run concurrently, and requests
///          are organized into them elastically within the objective, instead of waiting for a
///          batch to fill or to end. Only its abstract was available.
/// Differs  The overlap of transfers with computing, from a memory pool on the GPU, is not modeled.
/// Cost     O(queries that run x queries that wait)
#include <algorithm>

#include "deployment/registry.h"
#include "deployment/super_kernel.h"

namespace almanac::deployment::dispatcher {
namespace {

class Ebird final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    if (seen.running != nullptr) return std::nullopt;
    std::vector<KernelQuery> queries = kernel_queries(seen);
    std::stable_partition(queries.begin(), queries.end(),
                          [](const KernelQuery& each) { return each.done > 0; });
    SuperKernel kernel(seen.variants);
    for (const KernelQuery& each : queries) kernel.add(each);
    return kernel.dispatched();
  }
};

}  // namespace

void register_ebird(Registry& registry) {
  registry.dispatchers.add(
      {.name = "ebird",
       .summary = "requests start at once in batches next to those that run, while all are in time",
       .source = "Cui et al. ICCD'19",
       .make = [] { return std::make_unique<Ebird>(); }});
}

}  // namespace almanac::deployment::dispatcher
