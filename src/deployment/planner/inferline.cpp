// SPDX-License-Identifier: Apache-2.0

/// \file
/// Batch, share and copies of each stage of a pipeline, each step tried in a replay of random
/// requests; a service alone is a pipeline of one stage.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "deployment/pipeline.h"
#include "deployment/planner/inferline/envelope.h"
#include "deployment/registry.h"
#include "deployment/replay.h"

namespace almanac::deployment::planner {
namespace {

constexpr double kShareStep = 0.1;
constexpr int kMostCopies = 1000;

/// The configuration of one stage.
struct Setting {
  double share = 1;
  int batch = 1;
  int copies = 1;
};
using Settings = std::vector<Setting>;  // by stage

double cost_of(const Settings& settings) {
  double sum = 0;
  for (const Setting& each : settings) sum += each.share * each.copies;
  return sum;
}

/// Source   Crankshaw et al., SoCC'20 (InferLine), section 4: starts on the best hardware with
///          batches of 1; adds replicas to the stage with the least throughput for its rate until
///          the pipeline is feasible. Then takes, again and again, the step that saves the most:
///          twice the batch, a replica less, weaker hardware of a stage. An estimator replays
///          requests to the whole pipeline and accepts a step if p99 is within the objective.
/// Differs  Hardware is a share of a GPU: first the knee, then a tenth less each time. The requests
///          are random at the rate of the service. No stage is busier than kMostUtilization. Each
///          step comes with as few replicas of its stage as are feasible. A setting is tried only
///          if a request that waits for one batch, of the slowest stage on its path, is in time.
///          Rates for which batches of 1 need more than half of kMostCopies start with the smallest
///          batches that are feasible.
class Estimated {
 public:
  /// `stages`: the services of a pipeline, the first one's before the others; their `variants`.
  Estimated(const PlanningCase& asked, const std::vector<std::size_t>& stages,
            const std::vector<std::size_t>& variants)
      : alone_{.fleet = {.gpus = kMostCopies, .memory_gib = asked.fleet.memory_gib, .beside = 1},
               .seed = asked.seed} {
    for (std::size_t each = 0; each < stages.size(); ++each) {
      Variant& variant = alone_.variants.emplace_back(asked.variants[variants[each]]);
      // Each copy may get neighbors.
      variant.fixed_ms *= asked.fleet.beside;
      variant.item_ms *= asked.fleet.beside;
      TaskService& stage = alone_.services.emplace_back(asked.services[stages[each]]);
      if (!stage.after) continue;
      stage.after = static_cast<std::size_t>(std::find(stages.begin(), stages.end(), *stage.after) -
                                             stages.begin());
    }
    arrivals_ = sample_of(alone_.services, asked.seed);
  }

  /// Nothing: no number of copies up to kMostCopies keeps p99 within the objective.
  std::optional<Settings> best() const {
    Settings first;
    for (const Variant& each : alone_.variants) first.push_back({.share = each.knee});
    auto now = enough(first);
    while (!now && enlarge(first)) now = enough(first);
    while (now) {
      std::optional<Settings> next;
      for (std::size_t stage = 0; stage < now->size(); ++stage) {
        const auto consider = [&](const Settings& settings) {
          auto made = fewest(settings, stage, next ? cost_of(*next) : cost_of(*now));
          if (made) next = std::move(made);
        };
        Settings larger = *now, weaker = *now;
        consider(*now);
        for (Setting& it = larger[stage]; (it.batch *= 2) <= alone_.variants[stage].most_batch;) {
          consider(larger);
        }
        weaker[stage].share -= kShareStep;
        if (weaker[stage].share > 1e-9) consider(weaker);
      }
      if (!next) return now;
      now = next;
    }
    return now;
  }

 private:
  bool is_feasible(const Settings& settings) const {
    Deployment copies;
    for (std::size_t stage = 0; stage < settings.size(); ++stage) {
      const Setting& it = settings[stage];
      for (int each = 0; each < it.copies; ++each) {
        copies.instances.push_back({.gpu = static_cast<int>(copies.instances.size()),
                                    .share = it.share,
                                    .service = stage,
                                    .variant = stage,
                                    .batch = it.batch});
      }
    }
    return play_deployment(alone_, copies, arrivals_).worst() >= kInTime;
  }

  /// Whether full batches on every path leave time to wait for one of them.
  bool can_be_in_time(const Settings& settings) const {
    std::vector<double> path_ms(settings.size()), slowest_ms(settings.size());
    for (std::size_t stage = 0; stage < settings.size(); ++stage) {
      const Setting& it = settings[stage];
      const TaskService& service = alone_.services[stage];
      path_ms[stage] = slowest_ms[stage] = alone_.variants[stage].batch_ms(it.batch, it.share);
      if (service.after) {
        path_ms[stage] += path_ms[*service.after];
        slowest_ms[stage] = std::max(slowest_ms[stage], slowest_ms[*service.after]);
      }
      if (path_ms[stage] + slowest_ms[stage] > service.slo_ms * (1 + 1e-9)) return false;
    }
    return true;
  }

  double throughput_of(std::size_t stage, const Setting& setting) const {
    return throughput(alone_.variants[stage], setting.share, setting.batch);
  }

  /// Copies of a stage below which its queue grows without end, or further than a replay shows.
  int least_copies(std::size_t stage, const Setting& setting) const {
    const double least =
        alone_.services[stage].rate / (kMostUtilization * throughput_of(stage, setting));
    return static_cast<int>(std::max(1.0, std::ceil(std::min<double>(least, kMostCopies) - 1e-9)));
  }

  /// The settings with copies for the rates, and then one more at a time for the stage with the
  /// least to spare, until they are feasible.
  std::optional<Settings> enough(Settings settings) const {
    if (!can_be_in_time(settings)) return std::nullopt;
    int all = 0;
    for (std::size_t stage = 0; stage < settings.size(); ++stage) {
      settings[stage].copies = least_copies(stage, settings[stage]);
      if (settings[stage].copies > kMostCopies / 2) return std::nullopt;
      all += settings[stage].copies;
    }
    for (int added = 0; added <= all; ++added) {
      if (is_feasible(settings)) return settings;
      std::size_t narrowest = 0;
      const auto spare = [&](std::size_t stage) {
        return settings[stage].copies * throughput_of(stage, settings[stage]) /
               alone_.services[stage].rate;
      };
      for (std::size_t stage = 1; stage < settings.size(); ++stage) {
        if (spare(stage) < spare(narrowest)) narrowest = stage;
      }
      ++settings[narrowest].copies;
    }
    return std::nullopt;
  }

  /// The settings with the fewest copies of `stage` that are feasible, if they cost less.
  std::optional<Settings> fewest(Settings settings, std::size_t stage, double below) const {
    if (!can_be_in_time(settings)) return std::nullopt;
    const int least = least_copies(stage, settings[stage]);
    if (least > kMostCopies / 2) return std::nullopt;
    const int most = std::min(kMostCopies, std::max(2 * least, settings[stage].copies));
    for (int copies = least; copies <= most; ++copies) {
      settings[stage].copies = copies;
      if (cost_of(settings) >= below - 1e-9) return std::nullopt;
      if (is_feasible(settings)) return settings;
    }
    return std::nullopt;
  }

  /// Doubles the batches that can be doubled; returns whether there are any.
  bool enlarge(Settings& settings) const {
    bool any = false;
    for (std::size_t stage = 0; stage < settings.size(); ++stage) {
      if (2 * settings[stage].batch > alone_.variants[stage].most_batch) continue;
      settings[stage].batch *= 2;
      any = true;
    }
    return any;
  }

  PlanningCase alone_;  // variant and service n: stage n
  std::vector<TaskArrival> arrivals_;
};

/// Each variant is in time for a single request, so the rate can be too high, or the pipeline long.
Error too_many_copies(const PlanningCase& asked, const std::vector<std::size_t>& variants,
                      const TaskService& service) {
  std::vector<std::string> names;
  for (const std::size_t each : variants) names.push_back(asked.variants[each].name);
  return {
      Code::unavailable,
      fmt::format(
          "up to {} copies of {} do not answer {:.10g} requests/s of {} with p99 within {:.10g} ms",
          kMostCopies, fmt::join(names, " and "), service.rate, service.task, service.slo_ms),
      {},
      "use a longer objective or less accuracy, or split the service"};
}

Result<Deployment> plan_inferline(const PlanningCase& asked) {
  Deployment made;
  for (std::size_t root = 0; root < asked.services.size(); ++root) {
    if (asked.services[root].after) continue;
    const auto stages = pipeline_of(asked.services, root);
    std::vector<std::size_t> variants;
    for (const std::size_t each : stages) {
      const auto variant = most_accurate(asked, asked.services[each]);
      if (!variant) return tl::unexpected(variant.error());
      variants.push_back(*variant);
    }
    const auto settings = Estimated(asked, stages, variants).best();
    if (!settings) return tl::unexpected(too_many_copies(asked, variants, asked.services[root]));
    for (std::size_t each = 0; each < stages.size(); ++each) {
      const Setting& setting = (*settings)[each];
      const Instance instance{.share = setting.share,
                              .service = stages[each],
                              .variant = variants[each],
                              .batch = setting.batch};
      if (add_by_best_fit(asked, instance, setting.copies, made)) continue;
      return tl::unexpected(too_few_gpus(asked, asked.services[stages[each]]));
    }
  }
  return made;
}

}  // namespace

void register_inferline(Registry& registry) {
  registry.planners.add(
      {.name = "inferline",
       .summary = "batch, share and copies of all stages, each step tried in a replay",
       .source = "Crankshaw et al. SoCC'20 §4 and §5",
       .make = {.plan = plan_inferline,
                .forecast = envelope,
                .plans_pipelines = true,
                .tuner = make_envelope_tuner}});
}

}  // namespace almanac::deployment::planner
