// SPDX-License-Identifier: Apache-2.0
#include "faults/checkpoint.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::faults {
namespace {

constexpr double kMonth = 1730.77;  // minutes between failures of 1,024 GPUs at 6.5 in 1,000
                                    // node-days

TEST(Checkpoint, IntervalsAreThoseOfYoungAndDaly) {
  EXPECT_NEAR(young_interval(1, kMonth), 58.83, 0.01);
  EXPECT_NEAR(daly_interval(1, kMonth), 58.17, 0.01);
  EXPECT_NEAR(best_interval(1, kMonth), 58.17, 0.01);
  EXPECT_NEAR(young_interval(1.0 / 6, 13.52), 2.123, 0.001);
  EXPECT_NEAR(best_interval(1.0 / 6, 13.52), 2.014, 0.001);
}

TEST(Checkpoint, BestIntervalBeatsItsNeighbours) {
  for (const double write : {0.01, 1.0, 10.0, 100.0}) {
    const double best = best_interval(write, 100);
    const auto cost = [&](double every) { return slowdown(every, write, 0, 100); };
    EXPECT_LT(cost(best), cost(best * 1.01)) << write;
    EXPECT_LT(cost(best), cost(best * 0.99)) << write;
  }
}

TEST(Checkpoint, FirstOrderLossAgreesWithTheExactOneForShortIntervals) {
  const double exact = 1 - 1 / slowdown(60, 1, 5, 6000);
  EXPECT_NEAR(first_order_loss(60, 1, 5, 6000) / exact, 1, 0.02);
}

TEST(Checkpoint, SlowdownIsThePublishedOne) {
  EXPECT_NEAR(slowdown(58.17, 1, 0, kMonth), 1.0348, 1e-4);
  EXPECT_NEAR(slowdown(5.895, 1.0 / 6, 0, 108.17), 1.0576, 1e-4);
  EXPECT_NEAR(slowdown(2.014, 1.0 / 6, 0, 13.52), 1.1750, 1e-4);
}

TEST(Checkpoint, WritingLongerThanTwiceTheTimeToFailureIsHopeless) {
  EXPECT_DOUBLE_EQ(daly_interval(250, 100), 100);
}

}  // namespace
}  // namespace almanac::faults
