// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs are divided into two parts, and services take turns on a part; and the two systems with
/// which its authors compare it, settings of the same scheduler: whole GPUs on which services take
/// turns (squishy bin packing), and the smallest part that suffices for each service, without
/// turns (guided self-tuning).
///
/// Source   Choi et al., ATC'22 (gpulet), and its released scheduler (gpulet/scheduler.h), which
///          makes the plan.
/// Differs  The scheduler uses all GPUs that it gets, so it gets as few as bisection finds with
///          which the plan serves every rate. It drops no requests, and tries the largest batch of
///          a variant too. A service has at least two requests in the time of its objective: for
///          fewer, the scheduler finds no batch. Neighbors slow each other by --beside, whatever
///          they do; the paper fits caches and memory. The scheduler may leave a service late
///          next to a newcomer; the plan is then made as if each batch had a neighbor. Each service
///          has the most accurate variant that is in time. As in the scheduler, rates and
///          milliseconds of objectives are whole numbers.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "deployment/planner/gpulet/scheduler.h"
#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

using gpulet::GpuletModel;
using gpulet::GpuletProfile;
using gpulet::GpuletRequest;
using gpulet::GpuletSetting;

class GpuletPlan {
 public:
  /// `setting` says whether GPUs have parts, and whether each service gets the smallest.
  GpuletPlan(const PlanningCase& asked, const GpuletSetting& setting)
      : asked_(asked), setting_(setting) {}

  Result<Deployment> fewest() {
    for (const TaskService& service : asked_.services) {
      const auto variant = most_accurate(asked_, service);
      if (!variant) return tl::unexpected(variant.error());
      variants_.push_back(*variant);
    }
    int fails = 0, does = 1;
    std::optional<Deployment> best;
    while (!(best = plan(does))) {
      if (does == asked_.fleet.gpus) {
        return tl::unexpected(too_few_gpus(asked_));
      }
      fails = does;
      does = std::min(2 * does, asked_.fleet.gpus);
    }
    while (does - fails > 1) {
      const int middle = fails + (does - fails) / 2;
      if (auto smaller = plan(middle)) {
        best = std::move(smaller);
        does = middle;
      } else {
        fails = middle;
      }
    }
    return *std::move(best);
  }

 private:
  /// Batches are slower next to a neighbor, or all of them.
  GpuletProfile profile_of_variants(bool next_to_neighbors) const {
    constexpr double kMibOfGib = 1024, kNever = 1e9;
    const double beside = asked_.fleet.beside;
    GpuletProfile made{.memory_mib = asked_.fleet.memory_gib * kMibOfGib,
                       .stretch = next_to_neighbors ? 1 : beside,
                       .tasks = asked_.services.size(),
                       .constant = next_to_neighbors ? beside : 1};
    for (const std::size_t each : variants_) {
      // The search for a batch never returns the largest.
      made.batch = std::max(made.batch, asked_.variants[each].most_batch + 1);
    }
    for (std::size_t service = 0; service < variants_.size(); ++service) {
      const Variant& variant = asked_.variants[variants_[service]];
      GpuletModel& model = made.models[std::to_string(service)];
      model.id = static_cast<int>(service);
      model.memory_mib = variant.memory_gib * kMibOfGib;
      model.assembly.assign(static_cast<std::size_t>(made.batch), 0);
      model.traffic[1] = {0, 0};
      for (const int share : gpulet::kShares) {
        for (int batch = 1; batch <= made.batch; ++batch) {
          model.latency[share].push_back(
              batch > variant.most_batch ? kNever : variant.batch_ms(batch, share / 100.0));
        }
      }
    }
    return made;
  }

  /// Nothing: the scheduler has no plan, or one that serves less than is asked.
  std::optional<Deployment> plan(int gpus) const {
    auto made = plan(gpus, true);
    return made ? made : plan(gpus, false);
  }

  std::optional<Deployment> plan(int gpus, bool next_to_neighbors) const {
    std::vector<GpuletRequest> requests;
    for (std::size_t service = 0; service < asked_.services.size(); ++service) {
      const TaskService& it = asked_.services[service];
      constexpr double kTwoPerObjective = 2000;  // ms
      const double rate = std::ceil(std::max(it.rate, kTwoPerObjective / it.slo_ms));
      requests.push_back({std::to_string(service), static_cast<int>(rate), it.slo_ms});
    }
    GpuletSetting setting = setting_;
    setting.gpus = gpus;
    setting.interference = next_to_neighbors;
    setting.dropped = 0;
    const auto gpulets =
        gpulet::plan_gpulets(profile_of_variants(next_to_neighbors), setting, requests);
    if (!gpulets) return std::nullopt;
    Deployment made;
    std::map<int, int> used, parts;  // by GPU
    for (const gpulet::Gpulet& each : *gpulets) used[each.gpu] += each.tasks.empty() ? 0 : 1;
    for (const gpulet::Gpulet& each : *gpulets) {
      const int part = parts[each.gpu]++;
      // The smallest part is given the turn that its rate needs, which may be shorter than a batch.
      double turn_ms = 0;
      for (const gpulet::GpuletTask& task : each.tasks) {
        const Variant& variant = asked_.variants[variants_[std::stoul(task.model)]];
        turn_ms += (used[each.gpu] > 1 ? asked_.fleet.beside : 1) *
                   variant.batch_ms(task.batch, each.share / 100.0);
      }
      for (const gpulet::GpuletTask& task : each.tasks) {
        const std::size_t service = std::stoul(task.model);
        made.instances.push_back({.gpu = each.gpu,
                                  .share = each.share / 100.0,
                                  .service = service,
                                  .variant = variants_[service],
                                  .batch = task.batch,
                                  .part = part,
                                  .duty_ms = std::max(each.duty, turn_ms)});
      }
    }
    if (!check(asked_, made) || !judge(asked_, made).meets(asked_)) return std::nullopt;
    return made;
  }

  const PlanningCase& asked_;
  GpuletSetting setting_;
  std::vector<std::size_t> variants_;  // by service
};

PlannerChoice choice(const GpuletSetting& setting) {
  return {[setting](const PlanningCase& asked) { return GpuletPlan(asked, setting).fewest(); },
          false};
}

}  // namespace

void register_gpulet(Registry& registry) {
  registry.planners.add({.name = "gpulet",
                         .summary = "GPUs split into two parts, on which services take turns",
                         .source = "Choi et al. ATC'22, the released scheduler",
                         .make = choice({})});
  registry.planners.add(
      {.name = "gpulet_whole",
       .summary = "whole GPUs, on which services take turns: gpulet without parts",
       .source = "Choi et al. ATC'22, the released scheduler without parts",
       .make = choice({.parts = false})});
  registry.planners.add(
      {.name = "gpulet_greedy",
       .summary = "the smallest part of a GPU that suffices for each service, without turns",
       .source = "Choi et al. ATC'22, the released scheduler with self-tuning",
       .make = choice({.greedy = true})});
}

}  // namespace almanac::deployment::planner
