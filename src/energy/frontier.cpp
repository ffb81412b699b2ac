// SPDX-License-Identifier: Apache-2.0
#include "energy/frontier.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace almanac::energy {
namespace {

constexpr std::array kBuffers = {0.0, 0.5, 1.0, 1.5, 2.0};
constexpr std::array kDelayPrices = {0.1,  1.0,  2.0,   4.0,   8.0,   16.0,
                                     32.0, 64.0, 128.0, 256.0, 512.0, 1024.0};

std::string priced(double delay) { return fmt::format("delay {:g}", delay); }

}  // namespace

std::vector<JudgedPlan> compare_plans(const Demand& demand, const FrontierOptions& options) {
  std::vector<JudgedPlan> plans;
  const auto judge = [&](std::string family, std::string setting, Plan plan) {
    const std::string name = setting.empty() ? family : family + ", " + setting;
    PlanFigures figures = judge_plan(name, demand, plan, options.power, options.first);
    plans.push_back({std::move(family), std::move(setting), std::move(plan), std::move(figures)});
  };
  judge("always on", "", always_on(demand));
  judge("follow the load", "", follow_load(demand));
  const Trend trend = forecast_trend(demand, options.ces);
  int before = -1;
  for (const double part : kBuffers) {
    CesSettings settings = options.ces;
    settings.buffer = static_cast<int>(std::lround(part * options.ces.buffer));
    if (settings.buffer == before) continue;
    before = settings.buffer;
    judge("published loop", fmt::format("buffer {}", before),
          published_loop(demand, trend, settings));
  }
  const std::vector<Standby> known = forecast_standby(demand);
  std::vector<double> delays(kDelayPrices.begin(), kDelayPrices.end());
  delays.push_back(options.prices.delayed);
  std::sort(delays.begin(), delays.end());
  delays.erase(std::unique(delays.begin(), delays.end()), delays.end());
  for (const double delay : delays) {
    StandbyPrices prices = options.prices;
    prices.delayed = delay;
    // To an operator to whom a delay is cheaper than a wake-up, wake-ups are no dearer either.
    if (delay < options.prices.delayed) prices.wake_up = std::min(prices.wake_up, delay);
    judge("standby", priced(delay), standby_plan(known, demand.step, prices));
  }
  judge("optimum", "", offline_optimum(demand, options.power));
  return plans;
}

const JudgedPlan& chosen_plan(const std::vector<JudgedPlan>& plans, const StandbyPrices& prices) {
  const auto found = std::find_if(plans.begin(), plans.end(), [&](const JudgedPlan& judged) {
    return judged.family == "standby" && judged.setting == priced(prices.delayed);
  });
  ALMANAC_CHECK(found != plans.end(), "no plan at a price of {}", prices.delayed);
  return *found;
}

}  // namespace almanac::energy
