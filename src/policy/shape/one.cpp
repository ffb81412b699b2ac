// SPDX-License-Identifier: Apache-2.0

/// \file
/// One GPU for every elastic job.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 7.1: the tasks of its capacity scheduler.
#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class One final : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger&) override {
    return {.nodes = 1, .gpus = 1, .rate = view.speeds->rate(job, 1, 1)};
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
