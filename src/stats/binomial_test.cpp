// SPDX-License-Identifier: Apache-2.0
#include "stats/binomial.h"

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

TEST(Binomial, AddsUpTheUpperTail) {
  EXPECT_DOUBLE_EQ(binomial_at_least(0, 10, 0.3), 1);
  EXPECT_NEAR(binomial_at_least(10, 10, 0.5), 1.0 / 1024, 1e-15);
  EXPECT_NEAR(binomial_at_least(9, 10, 0.5), 11.0 / 1024, 1e-15);
  EXPECT_NEAR(binomial_at_least(1, 20, 0.05), 1 - 0.35848592240854188, 1e-12);
  EXPECT_DOUBLE_EQ(binomial_at_least(1, 5, 0), 0);
  EXPECT_DOUBLE_EQ(binomial_at_least(5, 5, 1), 1);
  EXPECT_DOUBLE_EQ(binomial_at_least(6, 5, 0.5), 0);
}

TEST(Binomial, KeepsWhatIsVeryUnlikely) {
  const double found = binomial_at_least(400, 1000, 0.1);
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 1e-100);
}

}  // namespace
}  // namespace almanac::stats
