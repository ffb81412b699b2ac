// SPDX-License-Identifier: Apache-2.0

#include "deployment/pipeline.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace almanac::deployment {
namespace {

constexpr int kParts = 100;  // of an objective
constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// The division of one pipeline's objective.
class Split {
 public:
  explicit Split(const PlanningCase& asked) : asked_(asked), best_(asked.services.size()) {
    // Stages come after the service that makes their requests.
    for (std::size_t each = asked.services.size(); each-- > 0;) fill(each);
  }

  /// Gives `service` its part of `parts`, and the stages after it what is left. Returns false if
  /// there is no way.
  bool divide(std::size_t service, int parts, PlanningCase& into) const {
    const Best& best = best_[service][static_cast<std::size_t>(parts)];
    if (best.gpus == kImpossible) return false;
    into.services[service].slo_ms = asked_.services[service].slo_ms * best.own / kParts;
    into.services[service].after.reset();
    for (const std::size_t stage : stages_of(service)) divide(stage, parts - best.own, into);
    return true;
  }

 private:
  /// GPUs for a service and the stages after it, and the part that is its own.
  struct Best {
    double gpus = kImpossible;
    int own = 0;
  };

  std::vector<std::size_t> stages_of(std::size_t service) const {
    std::vector<std::size_t> made;
    for (std::size_t each = service + 1; each < asked_.services.size(); ++each) {
      if (asked_.services[each].after == service) made.push_back(each);
    }
    return made;
  }

  double gpus_of(std::size_t service, int parts) const {
    TaskService alone = asked_.services[service];
    alone.slo_ms *= static_cast<double>(parts) / kParts;
    const auto chosen = most_accurate(asked_, alone);
    if (!chosen) return kImpossible;
    const Variant& variant = asked_.variants[*chosen];
    const double slower = asked_.fleet.mig ? 1 : asked_.fleet.beside;
    const int batch = batch_in_time(variant, variant.knee, alone.slo_ms, slower);
    return variant.knee * alone.rate / throughput(variant, variant.knee, batch, slower);
  }

  void fill(std::size_t service) {
    const auto stages = stages_of(service);
    auto& best = best_[service];
    best.resize(kParts + 1);
    for (int own = 1; own <= kParts; ++own) {
      const double gpus = gpus_of(service, own);
      if (gpus == kImpossible) continue;
      for (int parts = own; parts <= kParts; ++parts) {
        double sum = gpus;
        for (const std::size_t stage : stages) {
          sum += best_[stage][static_cast<std::size_t>(parts - own)].gpus;
        }
        // What a last stage does not need is no use to others.
        Best& now = best[static_cast<std::size_t>(parts)];
        if (sum < now.gpus || (stages.empty() && sum <= now.gpus && sum < kImpossible))
          now = {sum, own};
      }
    }
  }

  const PlanningCase& asked_;
  std::vector<std::vector<Best>> best_;  // by service and parts
};

}  // namespace

std::size_t root_of(const std::vector<TaskService>& services, std::size_t service) {
  while (services[service].after) service = *services[service].after;
  return service;
}

std::vector<std::size_t> pipeline_of(const std::vector<TaskService>& services, std::size_t root) {
  std::vector<std::size_t> made;
  for (std::size_t each = root; each < services.size(); ++each) {
    if (root_of(services, each) == root) made.push_back(each);
  }
  return made;
}

void set_stage_rates(std::vector<TaskService>& services) {
  for (TaskService& each : services) {
    if (!each.after) continue;
    const TaskService& before = services[*each.after];
    each.rate = before.rate * each.per_answer;
    each.rates = before.rates;
    for (double& rate : each.rates) rate *= each.per_answer;
  }
}

Result<PlanningCase> split_objectives(const PlanningCase& asked) {
  PlanningCase made = asked;
  const Split split(asked);
  for (std::size_t each = 0; each < asked.services.size(); ++each) {
    const TaskService& service = asked.services[each];
    const auto stages = pipeline_of(asked.services, each);
    if (service.after || stages.size() == 1) continue;
    if (split.divide(each, kParts, made)) continue;
    for (const std::size_t stage : stages) {
      const auto alone = most_accurate(asked, asked.services[stage]);
      if (!alone) return tl::unexpected(alone.error());
    }
    return fail(Code::unavailable,
                fmt::format("no variants for {} and the stages after it answer within {:.10g} ms "
                            "together",
                            service.task, service.slo_ms),
                {}, "use a longer objective, or less accuracy");
  }
  return made;
}

Result<Deployment> plan_with(const PlannerChoice& planner, const PlanningCase& asked) {
  const bool has_stages =
      std::any_of(asked.services.begin(), asked.services.end(),
                  [](const TaskService& each) { return each.after.has_value(); });
  if (planner.plans_pipelines || !has_stages) return planner.plan(asked);
  const auto split = split_objectives(asked);
  if (!split) return tl::unexpected(split.error());
  return planner.plan(*split);
}

}  // namespace almanac::deployment
