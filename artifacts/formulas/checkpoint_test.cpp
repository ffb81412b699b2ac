// SPDX-License-Identifier: Apache-2.0
#include "formulas/checkpoint.h"

#include <gtest/gtest.h>

namespace almanac::failure {
namespace {

// 2,048 nodes with 6.5 faults per 1,000 days each, in minutes; checkpoints of ten seconds.
constexpr Failing kLlama{.mean_time_to_failure = 1440 / (2048 * 0.0065), .write = 1.0 / 6};

TEST(Checkpoint, IsYoungsAndDalysByHand) {
  const Failing job{.mean_time_to_failure = 200, .write = 4};
  EXPECT_DOUBLE_EQ(young_interval(job), 40);
  EXPECT_DOUBLE_EQ(daly_first_order_interval(job), 36);
  EXPECT_DOUBLE_EQ(daly_interval(job), 40 * (1 + 0.1 / 3 + 0.01 / 9) - 4);
  EXPECT_DOUBLE_EQ(daly_interval({.mean_time_to_failure = 2, .write = 4}), 2);
}

TEST(Checkpoint, HasNoBetterIntervalThanTheBest) {
  for (const Failing& job : {kLlama, Failing{1730, 1}, Failing{2, 4}}) {
    const double best = best_interval(job);
    const double least = slowdown(job, best);
    EXPECT_LT(least, slowdown(job, best * 1.01));
    EXPECT_LT(least, slowdown(job, best * 0.99));
    EXPECT_LE(least, slowdown(job, young_interval(job)));
    EXPECT_LE(least, slowdown(job, daly_interval(job)));
  }
}

TEST(Checkpoint, RestartsDoNotMoveTheBestInterval) {
  const double best = best_interval(kLlama);
  EXPECT_LT(slowdown(kLlama, best, 5), slowdown(kLlama, best * 1.01, 5));
  EXPECT_LT(slowdown(kLlama, best, 5), slowdown(kLlama, best * 0.99, 5));
}

TEST(Checkpoint, LosesHalfAnIntervalAndARestartAFailure) {
  const Failing job{.mean_time_to_failure = 100, .write = 1};
  EXPECT_DOUBLE_EQ(effective_time(job, 10, 5), (1 - 0.1) / 1.1);
  EXPECT_DOUBLE_EQ(mean_time_to_failure(4, 0.005), 50);
}

}  // namespace
}  // namespace almanac::failure
