// SPDX-License-Identifier: Apache-2.0
#include "kueue/order.h"

#include <limits>

#include <gtest/gtest.h>

#include "kueue/write_budget.h"

namespace almanac::kueue {
namespace {

TEST(OrderKeyTest, PriorityThenAgeThenExpectedGpuTimeThenCreation) {
  const double unknown = std::numeric_limits<double>::infinity();
  const OrderKey high(1, false, 900, 5);
  const OrderKey old(0, true, 900, 4);
  const OrderKey old_and_short(0, true, 1, 6);
  const OrderKey quick(0, false, 10, 3);
  const OrderKey slow(0, false, 20, 1);
  const OrderKey unseen(0, false, unknown, 0);
  EXPECT_LT(high, old);
  EXPECT_LT(old, old_and_short) << "by age";
  EXPECT_LT(old_and_short, quick);
  EXPECT_LT(quick, slow);
  EXPECT_LT(slow, unseen);
}

TEST(ExpectedRestTest, WhatHasOutlivedItsEstimateRunsAsLongAgain) {
  EXPECT_EQ(expected_rest(10min, kNoDuration, 4min), 6min);
  EXPECT_EQ(expected_rest(10min, kNoDuration, 15min), 15min);
  EXPECT_EQ(expected_rest(10min, 20min, 15min), 5min) << "its limit ends it";
  EXPECT_EQ(expected_rest(10min, 20min, 25min), 0min);
  EXPECT_EQ(expected_rest(kNoDuration, 20min, 5min), 15min);
  EXPECT_EQ(expected_rest(kNoDuration, kNoDuration, 5min), kNoDuration);
}

TEST(WriteBudgetTest, GrowsWithEndsAndNotWithoutBound) {
  WriteBudget budget;
  EXPECT_FALSE(budget.has_left());
  const auto spend_all = [&] {
    int made = 0;
    for (; budget.has_left(); ++made) budget.spend();
    return made;
  };
  budget.look({"a", "b"}, 0);
  EXPECT_EQ(spend_all(), 40) << "20 for each queue at first";
  budget.look({"a", "b"}, 2);
  EXPECT_EQ(spend_all(), 6) << "3 for each end";
  budget.look({"a", "b"}, 1000);
  EXPECT_EQ(spend_all(), 120) << "60 for each queue at most";
  budget.look({}, 5);
  EXPECT_FALSE(budget.has_left()) << "no queue may get ranks";
}

}  // namespace
}  // namespace almanac::kueue
