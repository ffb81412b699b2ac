// SPDX-License-Identifier: Apache-2.0
#include "stats/normal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

TEST(Normal, QuantileHasItsKnownValues) {
  EXPECT_DOUBLE_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.01), -2.326347874040841, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-20), -9.262340089798408, 1e-12);
  EXPECT_TRUE(std::isinf(normal_quantile(0)));
}

TEST(Normal, QuantileAndDistributionUndoEachOther) {
  for (double z = -6; z <= 6; z += 0.125) {
    EXPECT_NEAR(normal_quantile(normal_cdf(z)), z, 1e-7) << z;
  }
}

TEST(Normal, DrawsHaveMeanZeroAndSpreadOne) {
  Rng rng(1);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double z = normal_draw(rng);
    sum += z;
    squares += z * z;
  }
  // Four standard errors: 1 / sqrt(n) of the mean, sqrt(2 / n) of the variance.
  EXPECT_NEAR(sum / kDraws, 0, 4 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 4 * std::sqrt(2.0 / kDraws));
}

}  // namespace
}  // namespace almanac::stats
