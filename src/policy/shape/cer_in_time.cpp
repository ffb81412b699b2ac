// SPDX-License-Identifier: Apache-2.0

/// \file
/// In the most cost-effective of the shapes that still meet the deadline; when none does, or there
/// is no deadline, in the most cost-effective of all.
///
/// As a job waits, shapes that are too slow by now drop out, and the choice is made again.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6, Algorithm 1, Eq 12.
/// Cost     a job is asked anew at most once a shape.
#include <cmath>

#include "policy/registry.h"
#include "policy/shape_choices.h"

namespace almanac::policy::shape {
namespace {

class CerInTime final : public Shape {
 public:
  Shaped choose(JobId job, Duration work, const View& view) override {
    const Time deadline = view.request(job).deadline;
    const auto last_start = [&](const ShapeChoice& shape) {
      const double lasts = static_cast<double>(work.count()) / shape.rate;
      return deadline - Duration{std::llround(lasts)};
    };
    const auto& choices = choices_.of(job, view);
    const ShapeChoice* any = &choices.front();
    const ShapeChoice* in_time = nullptr;
    for (const ShapeChoice& each : choices) {
      if (each.cost_effectiveness() > any->cost_effectiveness()) any = &each;
      if (deadline == kNoTime || last_start(each) < view.now) continue;
      if (in_time == nullptr || each.cost_effectiveness() > in_time->cost_effectiveness()) {
        in_time = &each;
      }
    }
    if (in_time == nullptr) return {.nodes = any->nodes, .gpus = any->gpus(), .rate = any->rate};
    return {.nodes = in_time->nodes,
            .gpus = in_time->gpus(),
            .rate = in_time->rate,
            .until = last_start(*in_time) + Duration{1}};
  }
  bool changes_while_waiting() const override { return true; }

 private:
  ShapeChoices choices_;
};

}  // namespace

void register_cer_in_time(Registry& registry) {
  registry.add_shape({"cer_in_time", "the most cost-effective shape that still meets the deadline",
                      "Chen et al. TPDS'20 (GENIE) §6"},
                     [](const Composition&) { return std::make_unique<CerInTime>(); });
}

}  // namespace almanac::policy::shape
