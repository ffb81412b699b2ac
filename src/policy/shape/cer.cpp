// SPDX-License-Identifier: Apache-2.0

/// \file
/// The most cost-effective shape, whatever the deadline; the smallest of equals.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 7.1: the shapes of Tetris+CER.
#include "policy/kit/shape_choices.h"
#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class Cer final : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger&) override {
    const auto& choices = choices_.of(job, view);
    const ShapeChoice* best = &choices.front();
    for (const ShapeChoice& each : choices) {
      if (each.cost_effectiveness() > best->cost_effectiveness()) best = &each;
    }
    return {.nodes = best->nodes, .gpus = best->gpus(), .rate = best->rate};
  }

 private:
  ShapeChoices choices_;
};

}  // namespace

void register_cer(Registry& registry) {
  registry.shapes.add({"cer",
                       "the most cost-effective shape",
                       "Chen et al. TPDS'20 (GENIE) §7.1",
                       {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::chooses_gpus}}},
                      [](const Parameters&) { return std::make_unique<Cer>(); });
}

}  // namespace almanac::policy::shape
