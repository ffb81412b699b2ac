// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that leaves its GPUs open takes up to half of those that are free as it comes, at least
/// what it asks: on an idle machine it does not sit on one GPU of eight, and who comes next finds
/// room. One that has to wait starts on what it asks.
///
/// Needs no speeds: what more GPUs bring is the user's word, who said that the job can use them.
///
/// Source   ours.
#include <algorithm>

#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class HalfRoom final : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger& ledger) override {
    const Progress& state = view.progress(job);
    const cluster::Demand& asked = view.demand(state.demand);
    const int free = ledger.free_gpus(state.vc, asked);
    const int most = std::max(asked.gpus, view.request(job).max_gpus);
    const int gpus = std::clamp(free / 2, asked.gpus, most);
    return {.gpus = gpus, .rate = view.speeds == nullptr ? 1 : view.speeds->rate(job, 1, gpus)};
  }
  bool needs_speeds() const override { return false; }
};

}  // namespace

void register_half_room(Registry& registry) {
  registry.shapes.add({"half_room",
                       "up to half of the GPUs that are free as it comes, at least what it asks",
                       "ours",
                       {.has = {Trait::chooses_gpus}}},
                      [](const Parameters&) { return std::make_unique<HalfRoom>(); });
}

}  // namespace almanac::policy::shape
