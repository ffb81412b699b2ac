// SPDX-License-Identifier: Apache-2.0

/// \file
/// An elastic job takes up to half of the GPUs that are free when it arrives, and at least what it
/// requests. So on an idle machine it does not use one GPU of eight, and the next job finds room. A
/// job that has to wait starts on what it requests.
///
/// Needs no speeds: the user has said that the job can use more GPUs.
///
/// Source   Our own.
#include <algorithm>
#include <unordered_set>

#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class HalfRoom final : public Shape {
 public:
  Shaped choose(JobId job, Duration, const View& view, const cluster::Ledger& ledger) override {
    const Progress& state = view.progress(job);
    const cluster::Demand& asked = view.demand(state.demand);
    Shaped made{.gpus = asked.gpus, .rate = rate(job, asked.gpus, view)};
    if (!came_.insert(job).second) return made;  // it had to wait
    const int room = std::min(ledger.free_gpus(state.vc, asked) / 2, view.request(job).max_gpus);
    for (int gpus = asked.gpus + 1; gpus <= room; ++gpus) {
      const double faster = rate(job, gpus, view);
      // Where speeds are known, no GPU is taken that makes the job slower.
      if (view.speeds == nullptr || faster > made.rate) made = {.gpus = gpus, .rate = faster};
    }
    if (made.gpus > asked.gpus) made.until = view.now + Duration{1};
    return made;
  }
  bool needs_speeds() const override { return false; }

 private:
  static double rate(JobId job, int gpus, const View& view) {
    return view.speeds == nullptr ? 1 : view.speeds->rate(job, 1, gpus);
  }

  std::unordered_set<JobId> came_;
};

}  // namespace

void register_half_room(Registry& registry) {
  registry.shapes.add(
      {"half_room",
       "up to half of the GPUs that are free at arrival, at least as many as requested",
       "ours",
       {.has = {Trait::chooses_gpus, Trait::revises_waiting}}},
      [](const Parameters&) { return std::make_unique<HalfRoom>(); });
}

}  // namespace almanac::policy::shape
