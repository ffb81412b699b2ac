// SPDX-License-Identifier: Apache-2.0
#include "stats/log_normal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

TEST(LogNormal, QuantilesAreThoseOfTheNormalInTheLogarithm) {
  const LogNormal runs(2400, 1.5, 172800);
  EXPECT_EQ(runs.quantile(0.5), 2400);
  // The normal's 0.841344746 quantile is 1: one spread above the median.
  EXPECT_EQ(runs.quantile(0.8413447460685429), std::llround(2400 * std::exp(1.5)));
  EXPECT_EQ(runs.quantile(1e-9), 1) << "whole, and at least 1";
  EXPECT_EQ(runs.quantile(0.9999), 172800);
}

TEST(LogNormal, MeanIsTheTextbooksWhereNothingIsCut) {
  EXPECT_NEAR(LogNormal(100, 1.2).mean(), 100 * std::exp(0.72), 1e-9);
  EXPECT_NEAR(LogNormal(100, 0).mean(), 100, 1e-9);
}

TEST(LogNormal, MeansBetweenRanksSumToTheMean) {
  for (const LogNormal& runs : {LogNormal(2400, 1.5, 172800), LogNormal(5e4, 1.2)}) {
    constexpr int kParts = 1000;
    double sum = 0;
    std::int64_t last = 0;
    for (int i = 0; i < kParts; ++i) {
      const auto mean = runs.mean_between(i / 1000.0, (i + 1) / 1000.0);
      EXPECT_GE(mean, last);
      last = mean;
      sum += static_cast<double>(mean) / kParts;
    }
    EXPECT_NEAR(sum, runs.mean(), 0.5);  // each is off by half a second at most
  }
}

// By the trapezoidal rule over the quantiles, which know nothing of the integral's closed form.
TEST(LogNormal, MeanIsThatOfItsQuantiles) {
  const LogNormal runs(2400, 1.5, 172800);
  constexpr int kSteps = 200000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    sum += static_cast<double>(runs.quantile((i + 0.5) / kSteps)) / kSteps;
  }
  EXPECT_NEAR(sum, runs.mean(), 1e-3 * runs.mean());
}

TEST(LogNormal, WithoutSpreadIsOneNumber) {
  const LogNormal runs(60, 0, 60);
  for (const double u : {0.0, 0.3, 0.999}) EXPECT_EQ(runs.quantile(u), 60);
  EXPECT_EQ(runs.mean_between(0, 1), 60);
}

}  // namespace
}  // namespace almanac::stats
