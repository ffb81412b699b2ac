// SPDX-License-Identifier: Apache-2.0
#include "energy/plan.h"

#include <algorithm>
#include <cmath>

#include "energy/forecaster.h"

namespace almanac::energy {
namespace {

/// The mean that is forecast of the next `horizon` steps, at each step.
std::vector<double> mean_forecasts(const Demand& demand, std::size_t horizon) {
  Forecaster forecaster(
      {.start = demand.start, .step = demand.step, .horizon = horizon, .target = Target::mean});
  std::vector<double> means;
  for (const int used : demand.used) {
    forecaster.observe(used);
    means.push_back(forecaster.forecast().median);
  }
  return means;
}

}  // namespace

Plan always_on(const Demand& demand) {
  return {.on = demand.total, .late = std::vector<int>(demand.used.size())};
}

Plan follow_load(const Demand& demand) {
  Plan plan{.on = demand.used, .late = std::vector<int>(demand.used.size())};
  for (std::size_t at = 1; at < demand.used.size(); ++at) {
    plan.late[at] = std::max(0, demand.used[at] - demand.used[at - 1]);
  }
  return plan;
}

Trend forecast_trend(const Demand& demand, const CesSettings& settings) {
  const auto future = static_cast<std::size_t>(settings.future_steps);
  return {.soon = mean_forecasts(demand, future), .later = mean_forecasts(demand, 2 * future)};
}

Plan published_loop(const Demand& demand, const Trend& trend, const CesSettings& settings) {
  CesTrack track = run_ces(demand.used, trend.soon, trend.later, demand.total, settings);
  return {.on = std::move(track.active), .late = std::move(track.lack)};
}

Plan offline_optimum(const Demand& demand, const PowerModel& power) {
  const auto least_steps =
      static_cast<std::size_t>(power.least_sleep_s() / seconds(demand.step)) + 1;
  Plan plan{.on = demand.used, .late = std::vector<int>(demand.used.size())};
  // Nodes are alike: one more is needed whenever more than `node` are used.
  const int most = *std::max_element(demand.used.begin(), demand.used.end());
  for (int node = 0; node < most; ++node) {
    std::size_t gap = 0;  // where the node's idle time began
    for (std::size_t at = 0; at < demand.used.size(); ++at) {
      if (demand.used[at] <= node) continue;
      if (at - gap < least_steps) {
        for (std::size_t idle = gap; idle < at; ++idle) ++plan.on[idle];
      }
      gap = at + 1;
    }
  }
  return plan;
}

PlanFigures judge_plan(const std::string& name, const Demand& demand, const Plan& plan,
                       const PowerModel& power, std::size_t first) {
  PlanFigures figures{.plan = name};
  NodeTime time;
  NodeTime always;
  const double step_s = seconds(demand.step);
  const auto steps = static_cast<double>(demand.used.size() - first);
  double wake_ups = 0;
  double woken = 0;
  double delayed = 0;
  double requests = 0;
  for (std::size_t at = first; at < demand.used.size(); ++at) {
    const int used = demand.used[at];
    const int on = std::max(plan.on[at], used);
    const int there = std::max(demand.total[at], on);
    const int before = at == first ? on : plan.on[at - 1];
    // A cluster that grows wakes no node: its new nodes come up with it.
    const int grown = at == first ? 0 : std::max(0, demand.total[at] - demand.total[at - 1]);
    const int started = std::max(0, on - before - grown);
    if (at > 0) requests += std::max(0, used - demand.used[at - 1]);
    delayed += plan.late[at];
    wake_ups += started > 0 ? 1 : 0;
    woken += started;
    time.on_s += on * step_s;
    time.busy_gpu_s += used * power.gpus * step_s;
    time.asleep_s += (there - on) * step_s;
    time.booting_s += started * power.boot_s;
    always.on_s += there * step_s;
    always.busy_gpu_s += used * power.gpus * step_s;
    figures.nodes_asleep += (there - on) / steps;
  }
  const double days = steps * step_s / 86400;
  figures.wake_ups_a_day = wake_ups / days;
  figures.nodes_woken_a_day = woken / days;
  figures.delayed_a_day = delayed / days;
  figures.delayed_share = requests > 0 ? delayed / requests : 0;
  figures.delay_node_h = delayed * power.boot_s / 3600;
  figures.energy_kwh = bill_of(energy_of(time, power), power.facility).facility_kwh;
  figures.saved_kwh =
      bill_of(energy_of(always, power), power.facility).facility_kwh - figures.energy_kwh;
  return figures;
}

}  // namespace almanac::energy
