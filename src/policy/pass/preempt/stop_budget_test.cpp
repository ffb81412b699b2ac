// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/preempt/stop_budget.h"

#include <gtest/gtest.h>

namespace almanac::policy {
namespace {

TEST(StopBudget, StopsCostNothingAtFirstAndMoreAsTheyAreUsedUp) {
  StopBudget budget(600s, 0.15);
  EXPECT_EQ(budget.price(60, 1), Duration{0}) << "full";
  for (int stop = 0; stop < 25; ++stop) budget.spend_stop();
  EXPECT_EQ(budget.price(60, 1), 600s) << "half full";
  for (int stop = 0; stop < 20; ++stop) budget.spend_stop();
  EXPECT_EQ(budget.price(60, 1), 1800s) << "5 of 50 are left: sqrt(50 / 5 - 1) = 3";
  EXPECT_EQ(budget.price(60, 6), kNoDuration) << "only 5 are left";
}

TEST(StopBudget, EachSubmittedJobAddsPartOfAStop) {
  StopBudget budget(600s, 0.15);
  for (int stop = 0; stop < 50; ++stop) budget.spend_stop();
  EXPECT_EQ(budget.price(60, 1), kNoDuration);
  for (int job = 0; job < 7; ++job) budget.add_job();
  EXPECT_NE(budget.price(60, 1), kNoDuration) << "7 jobs add 1.05 stops";
  for (int job = 0; job < 1'000; ++job) budget.add_job();
  EXPECT_EQ(budget.price(60, 1), Duration{0}) << "it holds no more than 50";
}

TEST(StopBudget, LongJobsAndManyVictimsCostMore) {
  const StopBudget budget(600s, 0);
  EXPECT_EQ(budget.price(1800, 1), 600s);
  EXPECT_EQ(budget.price(5400, 1), 1800s);
  EXPECT_EQ(budget.price(60, 4), 2400s);
  EXPECT_EQ(StopBudget(0s, 0).price(86'400, 8), Duration{0}) << "patience_s:0";
}

}  // namespace
}  // namespace almanac::policy
