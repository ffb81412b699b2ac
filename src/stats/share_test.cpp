// SPDX-License-Identifier: Apache-2.0
#include "stats/share.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

TEST(TopShare, IsWhatTheLargestHold) {
  std::vector<double> values = {1, 1, 6, 1, 1};
  EXPECT_DOUBLE_EQ(top_share(values, 0.2), 0.6);
  EXPECT_DOUBLE_EQ(top_share(values, 0.4), 0.7);
  EXPECT_DOUBLE_EQ(top_share(values, 1), 1);
}

TEST(TopShare, OfNoFractionIsThatOfTheFirst) {
  std::vector<double> values = {2, 8};
  EXPECT_DOUBLE_EQ(top_share(values, 0), 0.8);
  EXPECT_TRUE(std::isnan(top_share({}, 0.5)));
}

}  // namespace
}  // namespace almanac::stats
