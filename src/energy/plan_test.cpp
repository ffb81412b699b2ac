// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plans over six steps, by hand: 10 minutes each, five nodes.
#include "energy/plan.h"

#include <gtest/gtest.h>

namespace almanac::energy {
namespace {

const Demand kHour{.used = {3, 1, 1, 4, 4, 2}, .total = std::vector<int>(6, 5)};

/// 90 W are spared by a node that sleeps.
PowerModel power(double booting_w) {
  return {.idle_w = 100, .full_w = 100, .booting_w = booting_w, .asleep_w = 10, .boot_s = 300};
}

TEST(Plan, FollowingTheLoadDelaysEveryRise) {
  const Plan plan = follow_load(kHour);
  EXPECT_EQ(plan.on, kHour.used);
  EXPECT_EQ(plan.late, (std::vector<int>{0, 0, 0, 3, 0, 0}));
  const PlanFigures figures = judge_plan("follow", kHour, plan, power(60), 0);
  EXPECT_DOUBLE_EQ(figures.nodes_asleep, (2 + 4 + 4 + 1 + 1 + 3) / 6.0);
  EXPECT_DOUBLE_EQ(figures.wake_ups_a_day, 24);     // one in an hour
  EXPECT_DOUBLE_EQ(figures.nodes_woken_a_day, 72);  // three
  EXPECT_DOUBLE_EQ(figures.delayed_a_day, 72);
  EXPECT_DOUBLE_EQ(figures.delayed_share, 1);
  EXPECT_DOUBLE_EQ(figures.delay_node_h, 0.25);
  // 15 node-steps spare 90 W each, three boots cost 60 W for 5 minutes.
  EXPECT_NEAR(figures.saved_kwh, (15 * 600 * 90 - 3 * 300 * 60) / 3.6e6, 1e-12);
}

TEST(Plan, NothingSleepsIsTheMeasure) {
  const PlanFigures figures = judge_plan("on", kHour, always_on(kHour), power(60), 0);
  EXPECT_EQ(figures.nodes_asleep, 0);
  EXPECT_EQ(figures.delayed_a_day, 0);
  EXPECT_EQ(figures.saved_kwh, 0);
}

TEST(Plan, TheOptimumSleepsOnlyWhereItPays) {
  // A boot costs 18 kJ, which a node spares in 200 s: any gap pays.
  EXPECT_EQ(offline_optimum(kHour, power(60)).on, kHour.used);
  // A boot costs 300 kJ, which takes 3,333 s: no gap before a use is worth it.
  const Plan careful = offline_optimum(kHour, power(1000));
  EXPECT_EQ(careful.on, (std::vector<int>{4, 4, 4, 4, 4, 2}));
  EXPECT_EQ(careful.late, std::vector<int>(6, 0));
}

TEST(Plan, ANodeThatIsNewIsNotWoken) {
  const Demand grows{.used = {2, 4}, .total = {2, 4}};
  const PlanFigures figures = judge_plan("on", grows, always_on(grows), power(60), 0);
  EXPECT_EQ(figures.nodes_woken_a_day, 0);
}

}  // namespace
}  // namespace almanac::energy
