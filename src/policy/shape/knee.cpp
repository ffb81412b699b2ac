// SPDX-License-Identifier: Apache-2.0

/// \file
/// An elastic job gets the GPUs of one node up to the knee of its speed-up: each doubling must
/// bring, per GPU that it adds, at least `least_gain` of what a GPU brings at the smallest size.
/// The rest of the node is left to other jobs.
///
/// Source   Han et al., CCGrid'20 (MARBLE): GPUs of a node by the nonlinear scalability of each
///          job, which leaves the others of the node to more jobs.
/// Differs  Only the abstract and accounts of the paper were available: the threshold is ours. The
///          number is chosen when a job joins the queue, and running jobs are not resized. With
///          `scan` or `easy`, later jobs fill the gaps.
#include "policy/kit/shape_choices.h"
#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class Knee final : public Shape {
 public:
  explicit Knee(double least_gain) : least_gain_(least_gain) {}

  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger&) override {
    const auto& choices = choices_.of(job, view);
    const ShapeChoice& smallest = choices.front();
    const ShapeChoice* knee = &smallest;
    for (const ShapeChoice& each : choices) {
      if (each.nodes > 1 || each.gpus() <= knee->gpus()) continue;
      const double gain = (each.rate - knee->rate) / (each.gpus() - knee->gpus());
      constexpr double kRounding = 1e-9;
      if (gain < least_gain_ * smallest.rate / smallest.gpus() * (1 - kRounding)) break;
      knee = &each;
    }
    return {.nodes = knee->nodes, .gpus = knee->gpus(), .rate = knee->rate};
  }

 private:
  double least_gain_;
  ShapeChoices choices_;
};

}  // namespace

void register_knee(Registry& registry) {
  registry.shapes.add(
      {.name = "knee",
       .summary = "GPUs of one node, as long as doubling them speeds the job up enough",
       .source = "Han et al. CCGrid'20 (MARBLE)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_speeds, Trait::chooses_gpus}},
       .parameters = {number("least_gain",
                             "speed that a further GPU must bring, as a fraction of that of a GPU "
                             "at the smallest size",
                             0.5, 0, 1)}},
      [](const Parameters& told) { return std::make_unique<Knee>(told.number("least_gain")); });
}

}  // namespace almanac::policy::shape
