// SPDX-License-Identifier: Apache-2.0
#include "formulas/queueing.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

TEST(ExponentialQueue, OfOneServerIsMM1) {
  const ExponentialQueue queue(1, 0.8);
  EXPECT_NEAR(queue.probability_of_wait(), 0.8, 1e-15);
  EXPECT_NEAR(queue.mean_wait(), 4, 1e-14);
  EXPECT_NEAR(queue.wait_quantile(0.9), std::log(0.8 / 0.1) / 0.2, 1e-12);
  EXPECT_EQ(queue.wait_quantile(0.2), 0);
}

TEST(ExponentialQueue, OfTwoServersIsWhatErlangWrote) {
  // a = 1: a^2/2! * 2/(2-1) = 1 beside 1 + 1.
  EXPECT_NEAR(ExponentialQueue(2, 0.5).probability_of_wait(), 1.0 / 3, 1e-15);
}

TEST(ConstantQueue, BelowOneServiceIsAnExponential) {
  ConstantQueue queue(0.6);
  for (const double x : {0.0, 0.25, 0.9}) {
    EXPECT_NEAR(queue.wait_at_most(x), 0.4 * std::exp(0.6 * x), 1e-14) << x;
  }
  EXPECT_NEAR(queue.wait_at_most(1.5), 0.4 * (std::exp(0.9) - 0.6 * 0.5 * std::exp(0.6 * 0.5)),
              1e-14);
}

TEST(ConstantQueue, HasTheMomentsOfItsDistribution) {
  ConstantQueue queue(0.9);
  double mean = 0;
  double square = 0;
  constexpr double kStep = 0.01;
  for (double x = kStep / 2; x < 250; x += kStep) {
    const double above = 1 - queue.wait_at_most(x);
    mean += above * kStep;
    square += 2 * x * above * kStep;
  }
  EXPECT_NEAR(mean, queue.mean_wait(), 1e-4);
  EXPECT_NEAR(square - mean * mean, queue.wait_variance(), 5e-3);
}

TEST(ConstantQueue, QuantilesTurnItsDistributionAround) {
  ConstantQueue queue(0.95);
  for (const double q : {0.5, 0.99, 0.999}) {
    EXPECT_NEAR(queue.wait_at_most(queue.wait_quantile(q)), q, 1e-11);
  }
  EXPECT_EQ(queue.wait_quantile(0.05), 0);
}

}  // namespace
}  // namespace almanac::stats
