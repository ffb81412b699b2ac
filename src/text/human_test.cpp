// SPDX-License-Identifier: Apache-2.0
#include "text/human.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::text {
namespace {

TEST(Human, WritesTimesWithTwoUnits) {
  EXPECT_EQ(human_time(0), "0.0s");
  EXPECT_EQ(human_time(45), "45s");
  EXPECT_EQ(human_time(725), "12m 05s");
  EXPECT_EQ(human_time(3 * 3600 + 20 * 60), "3h 20m");
  EXPECT_EQ(human_time(2 * 86400 + 4 * 3600), "2d 04h");
  EXPECT_EQ(human_time(std::nan("")), "-");
}

TEST(Human, GroupsThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(24359), "24,359");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
}

TEST(Human, GivesSharesTwoDigits) {
  EXPECT_EQ(human_share(0.6134), "61 %");
  EXPECT_EQ(human_share(0.0418), "4.2 %");
  EXPECT_EQ(human_share(0.0004), "0.04 %");
  EXPECT_EQ(human_share(0.9996), "99.9 %");
  EXPECT_EQ(human_share(1), "100 %");
  EXPECT_EQ(human_share(0), "0 %");
  EXPECT_EQ(human_share(std::nan("")), "-");
}

}  // namespace
}  // namespace almanac::text
