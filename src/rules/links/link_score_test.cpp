// SPDX-License-Identifier: Apache-2.0
#include "rules/links/link_score.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::links {
namespace {

const Sender kHalf{10, {{0, 5, 50}}};

TEST(LinkScore, CountsDemandBeyondTheCapacity) {
  const std::array two{kHalf, kHalf};
  // 50 Gb/s too many for half of the time.
  EXPECT_DOUBLE_EQ(link_score(two, std::array{0, 0}, 50), 0.5);
  EXPECT_DOUBLE_EQ(link_score(two, std::array{0, 5}, 50), 1);
  EXPECT_DOUBLE_EQ(link_score(two, std::array{0, 0}, 100), 1);
}

TEST(LinkScore, ShiftsJobsApart) {
  const std::array two{kHalf, kHalf};
  const Alignment best = align(two, 50);
  EXPECT_DOUBLE_EQ(best.score, 1);
  EXPECT_THAT(best.shifts_ms, testing::ElementsAre(0, 5));
}

TEST(LinkScore, TurnsUntilAllPeriodsMeet) {
  const std::array two{kHalf, Sender{4, {{0, 2, 50}}}};
  EXPECT_EQ(perimeter_ms(two), 20);
  EXPECT_LT(align(two, 50).score, 1);
}

}  // namespace
}  // namespace almanac::links
