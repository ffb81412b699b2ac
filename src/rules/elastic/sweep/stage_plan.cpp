// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/sweep/stage_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace almanac::elastic {
namespace {

constexpr double kSame = 1e-9;  // of GPU times that rounding alone tells apart

/// A plan of the first stages.
struct Partial {
  double seconds = 0;
  double gpu_seconds = 0;
  int gpus = 0;            // in the last of them
  std::size_t before = 0;  // where the plan of the stages before is
};

/// Leaves those that no other beats, the fastest first.
void keep_front(std::vector<Partial>& plans) {
  std::stable_sort(plans.begin(), plans.end(), [](const Partial& a, const Partial& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.gpu_seconds < b.gpu_seconds;
  });
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(plans, [&](const Partial& plan) {
    if (plan.gpu_seconds >= least * (1 - kSame)) return true;
    least = plan.gpu_seconds;
    return false;
  });
}

}  // namespace

StagePlan plan_stages(std::span<const Stage> stages, std::span<const double> step_s,
                      const StageTerms& terms) {
  std::vector<std::vector<Partial>> fronts{{Partial{}}};
  for (const Stage& stage : stages) {
    std::vector<Partial> plans;
    const double restart_s = fronts.size() > 1 ? terms.restart_s : 0;
    for (int gpus = 1; gpus <= terms.gpus && gpus < static_cast<int>(step_s.size()); ++gpus) {
      const double each_s = stage.steps * step_s[static_cast<std::size_t>(gpus)] + restart_s;
      if (std::isinf(each_s)) continue;
      const int at_a_time = terms.gpus / gpus;
      const int turns = (stage.trials + at_a_time - 1) / at_a_time;
      for (std::size_t at = 0; at < fronts.back().size(); ++at) {
        const Partial& before = fronts.back()[at];
        plans.push_back({.seconds = before.seconds + turns * each_s,
                         .gpu_seconds = before.gpu_seconds + stage.trials * gpus * each_s,
                         .gpus = gpus,
                         .before = at});
      }
    }
    keep_front(plans);
    // What is late already is of use only as the fastest that there is.
    const auto late = std::find_if(plans.begin(), plans.end(), [&](const Partial& plan) {
      return plan.seconds > terms.left_s;
    });
    if (late != plans.end()) plans.erase(late == plans.begin() ? late + 1 : late, plans.end());
    if (plans.empty()) return {};
    fronts.push_back(std::move(plans));
  }
  // The last of the front takes the least GPU time.
  std::size_t at = fronts.back().size() - 1;
  StagePlan made{.gpus = std::vector<int>(stages.size()),
                 .seconds = fronts.back()[at].seconds,
                 .gpu_seconds = fronts.back()[at].gpu_seconds};
  for (std::size_t stage = stages.size(); stage-- > 0;) {
    const Partial& plan = fronts[stage + 1][at];
    made.gpus[stage] = plan.gpus;
    at = plan.before;
  }
  return made;
}

}  // namespace almanac::elastic
