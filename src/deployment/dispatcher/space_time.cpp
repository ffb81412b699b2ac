// SPDX-License-Identifier: Apache-2.0

/// \file
/// Super-kernels: the next operator of the queries of all models runs at once, the most urgent
/// queries first, as far as every one of them would still end in time at that pace. Queries join
/// and leave between super-kernels (super_kernel.h).
///
/// Source   Jain et al., 2018 (Dynamic Space-Time Scheduling for GPU Inference): kernels of
///          different models are merged into super-kernels, chosen each time under the latency
///          objectives. Only its abstract and accounts of it were available; the order by urgency
///          is ours.
/// Differs  Stragglers are not evicted from the GPU; they stay out of super-kernels that would make
///          others late.
/// Cost     O(queries of a super-kernel x queries that wait)
#include "deployment/registry.h"
#include "deployment/super_kernel.h"

namespace almanac::deployment::dispatcher {
namespace {

class SpaceTime final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    if (seen.running != nullptr) return std::nullopt;
    SuperKernel kernel(seen.variants);
    for (const KernelQuery& each : kernel_queries(seen)) kernel.add(each);
    return kernel.dispatched();
  }
};

}  // namespace

void register_space_time(Registry& registry) {
  registry.dispatchers.add(
      {.name = "space_time",
       .summary = "the next operator of the queries of all models at once, while all are in time",
       .source = "Jain et al. 2018",
       .make = [] { return std::make_unique<SpaceTime>(); }});
}

}  // namespace almanac::deployment::dispatcher
