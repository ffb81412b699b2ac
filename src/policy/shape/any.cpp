// SPDX-License-Identifier: Apache-2.0

/// \file
/// In any shape that is possible, drawn once a job: the choice of a user who knows nothing of it.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 7.1, whose FIFO, Min-Min and Weighted Fair use
///          "simple heuristics"; that it is a draw is the design texts' reading.
#include "base/rng.h"
#include "policy/kit/shape_choices.h"
#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class Any final : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger&) override {
    const auto& choices = choices_.of(job, view);
    // A stream of its own, so that a job's shape does not hang on which others are asked.
    Rng rng(index(job));
    const ShapeChoice& drawn = choices[rng.below(choices.size())];
    return {.nodes = drawn.nodes, .gpus = drawn.gpus(), .rate = drawn.rate};
  }

 private:
  ShapeChoices choices_;
};

}  // namespace

void register_any(Registry& registry) {
  registry.shapes.add({"any",
                       "a random feasible shape for each job",
                       "baseline",
                       {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::chooses_gpus}}},
                      [](const Parameters&) { return std::make_unique<Any>(); });
}

}  // namespace almanac::policy::shape
