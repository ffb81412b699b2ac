// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/sweep/stage_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace almanac::elastic {
namespace {

constexpr double kSame = 1e-9;  // of GPU times that rounding alone tells apart

/// A plan of the first stages.
struct Partial {
  double seconds = 0;
  double gpu_seconds = 0;
  int gpus = 0;            // in the last of them
  int instances = 0;       // in the last of them
  std::size_t before = 0;  // where the plan of the stages before is
};

/// Leaves those that no other beats, the fastest first. A plan with more instances is not beaten by
/// one with fewer, which may have to boot some for the next stage.
void keep_front(std::vector<Partial>& plans) {
  std::stable_sort(plans.begin(), plans.end(), [](const Partial& a, const Partial& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.gpu_seconds < b.gpu_seconds;
  });
  std::map<int, double, std::greater<>> least;  // GPU time by instances
  std::erase_if(plans, [&](const Partial& plan) {
    for (const auto& [instances, gpu_seconds] : least) {
      if (instances < plan.instances) break;
      if (plan.gpu_seconds >= gpu_seconds * (1 - kSame)) return true;
    }
    least[plan.instances] = plan.gpu_seconds;
    return false;
  });
}

/// A stage with `gpus` for each trial.
struct Run {
  int trials = 0;
  int at_a_time = 0;  // trials
  int gpus = 0;
  double seconds = 0;
  double each_s = 0;
};
struct Bill {
  double seconds = 0;
  double gpu_seconds = 0;
  int instances = 0;
};

Bill bill_of(const Run& run, int booted, const StageTerms& terms) {
  if (terms.instance_gpus == 0) return {run.seconds, run.trials * run.gpus * run.each_s, booted};
  const int instances = (run.at_a_time * run.gpus + terms.instance_gpus - 1) / terms.instance_gpus;
  const double seconds = run.seconds + (instances > booted ? terms.boot_s : 0);
  return {seconds, instances * terms.instance_gpus * seconds, instances};
}

}  // namespace

StagePlan plan_stages(std::span<const Stage> stages, std::span<const double> step_s,
                      const StageTerms& terms) {
  std::vector<std::vector<Partial>> fronts{{Partial{.instances = terms.booted}}};
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
        const Bill bill = bill_of({.trials = stage.trials,
                                   .at_a_time = std::min(at_a_time, stage.trials),
                                   .gpus = gpus,
                                   .seconds = turns * each_s,
                                   .each_s = each_s},
                                  before.instances, terms);
        plans.push_back({.seconds = before.seconds + bill.seconds,
                         .gpu_seconds = before.gpu_seconds + bill.gpu_seconds,
                         .gpus = gpus,
                         .instances = bill.instances,
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
  const auto cheapest = std::min_element(fronts.back().begin(), fronts.back().end(),
                                         [](const Partial& a, const Partial& b) {
                                           return a.gpu_seconds < b.gpu_seconds * (1 - kSame);
                                         });
  auto at = static_cast<std::size_t>(cheapest - fronts.back().begin());
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
