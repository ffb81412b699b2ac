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

#include "policy/kit/arrival_shape.h"
#include "policy/registry.h"

namespace almanac::policy::shape {
namespace {

class HalfRoom final : public ArrivalShape {
  Shaped on_arrival(JobId job, const cluster::Demand& asked, const View& view,
                    const cluster::Ledger& ledger) override {
    const int free = ledger.free_gpus(view.progress(job).vc, asked);
    return fastest(job, asked.gpus, std::min(free / 2, view.request(job).max_gpus), view);
  }
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
