// SPDX-License-Identifier: Apache-2.0

/// \file
/// The best shape that still meets the deadline; the best of all shapes if none does, or without a
/// deadline.
///
/// While a job waits, shapes that have become too slow drop out, and the choice is made again.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6, Algorithm 1, Eq 12.
/// Cost     at most one new choice per job and shape
#pragma once

#include <cmath>

#include "policy/kit/shape_choices.h"
#include "policy/slots.h"

namespace almanac::policy::shape {

struct MoreEffective {
  bool operator()(const ShapeChoice& a, const ShapeChoice& b) const {
    return a.cost_effectiveness() > b.cost_effectiveness();
  }
};

/// `Better` returns whether one choice is better than another; the smaller of equals is taken.
template <typename Better>
class InTime final : public Shape {
 public:
  Shaped choose(JobId job, Duration work, const View& view, const cluster::Ledger&) override {
    const Time deadline = view.request(job).deadline;
    const auto last_start = [&](const ShapeChoice& shape) {
      const double lasts = static_cast<double>(work.count()) / shape.rate;
      return deadline - Duration{std::llround(lasts)};
    };
    const auto& choices = choices_.of(job, view);
    const ShapeChoice* any = &choices.front();
    const ShapeChoice* in_time = nullptr;
    for (const ShapeChoice& each : choices) {
      if (Better{}(each, *any)) any = &each;
      if (deadline == kNoTime || last_start(each) < view.now) continue;
      if (in_time == nullptr || Better{}(each, *in_time)) in_time = &each;
    }
    if (in_time == nullptr) return {.nodes = any->nodes, .gpus = any->gpus(), .rate = any->rate};
    return {.nodes = in_time->nodes,
            .gpus = in_time->gpus(),
            .rate = in_time->rate,
            .until = last_start(*in_time) + Duration{1}};
  }

 private:
  ShapeChoices choices_;
};

}  // namespace almanac::policy::shape
