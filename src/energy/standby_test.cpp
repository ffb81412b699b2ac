// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeping nodes on by prices: rules by hand, and over series.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "energy/frontier.h"

namespace almanac::energy {
namespace {

constexpr std::size_t kDay = 144;

/// Two rules: keep what is needed, keep everything. Demand is 5 for an hour, then 10 for an hour.
Standby swing(std::size_t at) {
  const int used = at % 12 < 6 ? 5 : 10;
  return {.used = used, .total = 10, .rules = {{used, used}, {10, 10}}};
}

int after_days(const StandbyPrices& prices, std::size_t days) {
  StandbyRules rules(prices, 10min);
  int on = 0;
  for (std::size_t at = 0; at <= days * kDay; ++at) on = rules.decide(swing(at));
  return on;
}

TEST(StandbyRules, LetNothingSleepBeforeTheyHaveAPast) {
  EXPECT_EQ(after_days({.delayed = 0, .wake_up = 0, .boot = 0}, 2), 10);
}

TEST(StandbyRules, FollowTheLoadWhereADelayCostsNothing) {
  EXPECT_EQ(after_days({.delayed = 0, .wake_up = 0, .boot = 0}, 3), 5);
}

TEST(StandbyRules, KeepAllOnWhereADelayOrAWakeUpCostsMoreThanItSpares) {
  // In two hours rule 0 spares 5 nodes for 50 minutes, 4.17 node-hours, delays 5 requests and wakes
  // once.
  EXPECT_EQ(after_days({.delayed = 0.8, .wake_up = 0, .boot = 0}, 3), 5);
  EXPECT_EQ(after_days({.delayed = 0.9, .wake_up = 0, .boot = 0}, 3), 10);
  EXPECT_EQ(after_days({.delayed = 0, .wake_up = 4, .boot = 0}, 3), 5);
  EXPECT_EQ(after_days({.delayed = 0, .wake_up = 4.3, .boot = 0}, 3), 10);
}

Demand daily_demand(std::size_t days, std::uint64_t seed) {
  Rng rng(seed);
  Demand demand;
  double spikes = 0;
  for (std::size_t at = 0; at < days * kDay; ++at) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(at % kDay) / kDay;
    spikes = 0.9 * spikes + (rng.uniform() < 0.01 ? 15 : 0);
    const double used = 80 + 20 * std::sin(turn) + spikes + 2 * rng.normal();
    demand.used.push_back(std::clamp(static_cast<int>(used), 0, 150));
    demand.total.push_back(150);
  }
  return demand;
}

TEST(Standby, DoesNotSeeWhatComes) {
  Demand demand = daily_demand(8, 1);
  const Plan before = standby_plan(forecast_standby(demand), demand.step, {});
  const std::size_t poisoned = 6 * kDay;
  for (std::size_t at = poisoned; at < demand.used.size(); ++at) demand.used[at] = 1;
  const Plan after = standby_plan(forecast_standby(demand), demand.step, {});
  for (std::size_t at = 0; at < poisoned; ++at) ASSERT_EQ(before.on[at], after.on[at]) << at;
}

TEST(Standby, AHigherPriceOfADelayDelaysNoMore) {
  const Demand demand = daily_demand(14, 2);
  const auto known = forecast_standby(demand);
  double before = 1e9;
  for (const double price : {0.1, 10.0, 1000.0}) {
    const Plan plan = standby_plan(known, demand.step, {.delayed = price});
    const PlanFigures figures =
        judge_plan("", demand, plan, {.idle_w = 800, .asleep_w = 10}, 7 * kDay);
    EXPECT_LE(figures.delayed_a_day, before) << price;
    before = figures.delayed_a_day;
    for (std::size_t at = 0; at < plan.on.size(); ++at) {
      ASSERT_GE(plan.on[at], demand.used[at]);
      ASSERT_LE(plan.on[at], demand.total[at]);
    }
  }
}

/// What ours lets sleep at `delayed` requests a day, between two prices if need be.
double asleep_at(double delayed, const std::vector<JudgedPlan>& plans) {
  PlanFigures below;
  PlanFigures above;
  above.delayed_a_day = 1e9;
  for (const JudgedPlan& judged : plans) {
    if (judged.family != "standby") continue;
    const PlanFigures& figures = judged.figures;
    if (figures.delayed_a_day <= delayed) {
      if (figures.nodes_asleep > below.nodes_asleep) below = figures;
    } else if (figures.delayed_a_day < above.delayed_a_day) {
      above = figures;
    }
  }
  if (above.delayed_a_day == 1e9) return below.nodes_asleep;
  const double part = (delayed - below.delayed_a_day) / (above.delayed_a_day - below.delayed_a_day);
  return below.nodes_asleep + part * (above.nodes_asleep - below.nodes_asleep);
}

TEST(Standby, SleepsNoLessThanThePublishedLoopAtEqualDelays) {
  const Demand demand = daily_demand(16, 3);
  const FrontierOptions options{.ces = ces_profile("earth").value(),
                                .power = {.idle_w = 800, .booting_w = 800, .asleep_w = 10},
                                .first = 7 * kDay};
  const auto plans = compare_plans(demand, options);
  for (const JudgedPlan& theirs : plans) {
    if (theirs.family != "published loop") continue;
    EXPECT_GE(asleep_at(theirs.figures.delayed_a_day, plans), theirs.figures.nodes_asleep)
        << theirs.setting;
  }
}

}  // namespace
}  // namespace almanac::energy
