// SPDX-License-Identifier: Apache-2.0

/// \file
/// A random feasible shape for each job: the choice of a user without any information.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 7.1: FIFO, Min-Min and Weighted Fair use "simple
///          heuristics". A random draw is our reading of that.
#include "base/rng.h"
#include "policy/kit/shape_choices.h"
#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class Any final : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger&) override {
    const auto& choices = choices_.of(job, view);
    // A separate stream per job, so that its shape does not depend on other jobs.
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
