// SPDX-License-Identifier: Apache-2.0

/// \file
/// One GPU for every elastic job; those of one copy of its model if it has a parallel plan
/// (trace/sizes.h).
///
/// Source   Chen et al., TPDS'20 (GENIE), section 7.1: the tasks of its capacity scheduler.
#include "policy/registry.h"
#include "trace/sizes.h"

namespace almanac::policy::shape {
namespace {

class One final : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger&) override {
    const int gpus = trace::size_step(view.request(job));
    return {.nodes = gpus == 1 ? 1 : 0, .gpus = gpus, .rate = view.speeds->rate(job, 1, gpus)};
  }
};

}  // namespace

void register_one(Registry& registry) {
  registry.shapes.add({"one",
                       "one GPU",
                       "Chen et al. TPDS'20 (GENIE) §7.1",
                       {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::chooses_gpus}}},
                      [](const Parameters&) { return std::make_unique<One>(); });
}

}  // namespace almanac::policy::shape
