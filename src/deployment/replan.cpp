// SPDX-License-Identifier: Apache-2.0

#include "deployment/replan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "deployment/pipeline.h"
#include "deployment/transition.h"

namespace almanac::deployment {
namespace {

constexpr double kSecondsKept = 60;  // of TaskService::rates

/// Arrival times of each service.
std::vector<std::vector<double>> by_service(std::size_t services,
                                            const std::vector<TaskArrival>& arrivals) {
  std::vector<std::vector<double>> made(services);
  for (const TaskArrival& each : arrivals) made[each.service].push_back(each.at_ms);
  return made;
}

/// The times of each service before `now_ms`.
std::vector<std::span<const double>> arrived_before(
    const std::vector<std::vector<double>>& arrivals_ms, double now_ms) {
  std::vector<std::span<const double>> made;
  for (const auto& all : arrivals_ms) {
    made.push_back(std::span(all).first(
        static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), now_ms) - all.begin())));
  }
  return made;
}

/// Requests in each of the last seconds, oldest first.
std::vector<double> second_rates(std::span<const double> past_ms, double now_ms) {
  const double seconds = std::min(kSecondsKept, now_ms / 1000);
  std::vector<double> made(static_cast<std::size_t>(seconds));
  const double from_ms = now_ms - 1000 * static_cast<double>(made.size());
  const auto first = std::lower_bound(past_ms.begin(), past_ms.end(), from_ms);
  for (auto each = first; each != past_ms.end(); ++each) {
    const auto second = static_cast<std::size_t>((*each - from_ms) / 1000);
    if (second < made.size()) ++made[second];
  }
  return made;
}

PlanningCase forecast_case(const PlannerChoice& planner, PlanningCase asked,
                           const std::vector<std::vector<double>>& arrivals_ms, double now_ms,
                           double step_ms, double rates) {
  asked.fleet.grams_per_kwh = grams_at(asked.fleet, now_ms);
  const auto past_ms = arrived_before(arrivals_ms, now_ms);
  for (std::size_t each = 0; each < asked.services.size(); ++each) {
    const auto& past = past_ms[each];
    const double expected =
        planner.forecast({.arrivals_ms = past, .now_ms = now_ms, .step_ms = step_ms});
    TaskService& service = asked.services[each];
    service.rate = rates * std::max(expected, 1000 / step_ms);
    service.rates = second_rates(past, now_ms);
    for (double& rate : service.rates) rate *= rates;
  }
  set_stage_rates(asked.services);
  return asked;
}

int gpus_of(const Phase& phase) {
  std::set<int> gpus;
  for (const Instance& each : phase.running.instances) gpus.insert(each.gpu);
  return static_cast<int>(gpus.size());
}

}  // namespace

Result<Replanned> plan_over_time(const PlannerChoice& planner, const PlanningCase& told,
                                 const std::vector<TaskArrival>& arrivals, double step_s,
                                 double rates) {
  const double step_ms = 1000 * step_s;
  const double end_ms = arrivals.empty() ? 0 : arrivals.back().at_ms;
  PlanningCase asked = told;
  if (!asked.fleet.carbon.empty() && asked.fleet.usual_grams_per_kwh == 0) {
    asked.fleet.usual_grams_per_kwh = mean_grams(asked.fleet, 0, end_ms);
  }
  const auto arrivals_ms = by_service(asked.services.size(), arrivals);
  PlanningCase at_start = asked;
  at_start.fleet.grams_per_kwh = grams_at(asked.fleet, 0);
  for (TaskService& each : at_start.services) {
    each.rate *= rates;
    for (double& rate : each.rates) rate *= rates;
  }
  auto first = plan_with(planner, at_start);
  if (!first) return tl::unexpected(first.error());
  auto tuner = planner.tuner ? planner.tuner(at_start, *first) : nullptr;
  Replanned made{.rates = rates, .phases = {{.running = *std::move(first)}}};
  const auto change_to = [&](const Deployment& next, double now_ms) {
    while (made.phases.back().from_ms > now_ms) made.phases.pop_back();
    Transition change = transition(asked, made.phases.back(), next, now_ms);
    made.interrupted += change.interrupts;
    for (Phase& each : change.phases) made.phases.push_back(std::move(each));
  };
  const int looks = tuner ? static_cast<int>(std::ceil(step_s)) : 1;  // from one plan to the next
  for (int look = 1; look * step_ms / looks < end_ms; ++look) {
    const double now_ms = look * step_ms / looks;
    if (look % looks != 0) {
      const auto next = tuner->tune(asked, made.phases.back().running,
                                    arrived_before(arrivals_ms, now_ms), now_ms);
      if (!next) continue;
      ++made.tuned;
      change_to(*next, now_ms);
      continue;
    }
    if (made.phases.back().from_ms > now_ms) continue;
    const PlanningCase now = forecast_case(planner, asked, arrivals_ms, now_ms, step_ms, rates);
    const auto plan = plan_with(planner, now);
    if (!plan) {
      ++made.refused;
      continue;
    }
    if (tuner) tuner = planner.tuner(now, *plan);
    ++made.plans;
    change_to(*plan, now_ms);
  }
  for (std::size_t each = 0; each < made.phases.size(); ++each) {
    const int gpus = gpus_of(made.phases[each]);
    made.loads += made.phases[each].loads;
    const double until_ms = each + 1 < made.phases.size() ? made.phases[each + 1].from_ms : end_ms;
    const double from_ms = made.phases[each].from_ms, to_ms = std::min(until_ms, end_ms);
    const double gpu_hours = gpus * std::max(0.0, to_ms - from_ms) / 3.6e6;
    made.gpu_hours += gpu_hours;
    made.grams += gpu_hours * asked.fleet.idle_w / 1000 * mean_grams(asked.fleet, from_ms, to_ms);
    made.most_gpus = std::max(made.most_gpus, gpus);
  }
  made.run = play_phases(asked, made.phases, arrivals);
  made.grams += made.run.busy_g;
  return made;
}

Result<Replanned> plan_over_time_in_time(const PlannerChoice& planner, const PlanningCase& asked,
                                         const std::vector<TaskArrival>& arrivals, double step_s,
                                         double share) {
  constexpr int kMostTenths = 40;
  double best = 0;
  for (int tenths = 10; tenths <= kMostTenths; ++tenths) {
    auto tried = plan_over_time(planner, asked, arrivals, step_s, tenths / 10.0);
    if (!tried && tenths == 10) return tried;
    if (!tried) break;
    if (tried->run.worst() >= share) return tried;
    best = std::max(best, tried->run.worst());
  }
  return fail(Code::unavailable,
              fmt::format("planning again every {:g} s serves at most {:.1f} % of the requests in "
                          "time, less than {:.4g} %",
                          step_s, 100 * best, 100 * share),
              {}, "plan more often, use more GPUs, a longer objective or a smaller --share");
}

}  // namespace almanac::deployment
