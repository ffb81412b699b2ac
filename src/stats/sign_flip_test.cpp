// SPDX-License-Identifier: Apache-2.0
#include "stats/sign_flip.h"

#include <vector>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

TEST(SignFlip, CountsAllWaysWhereTheyAreFew) {
  Rng rng(1);
  // Of 8 ways two are as far from 0: all with their sign, and all without.
  EXPECT_DOUBLE_EQ(sign_flip_p(std::vector<double>{1, 2, 3}, 10'000, rng), 2 / 8.0);
  // 1 + 1 - 1 is 1 away; all but +++ and --- are as near as that or are it: every way is as far.
  EXPECT_DOUBLE_EQ(sign_flip_p(std::vector<double>{1, 1, -1}, 10'000, rng), 1.0);
  EXPECT_DOUBLE_EQ(sign_flip_p(std::vector<double>{}, 10'000, rng), 1.0);
  // The order of the terms rounds their sum, and must not make it nearer than itself.
  EXPECT_DOUBLE_EQ(sign_flip_p(std::vector<double>{0.1, 0.2, 0.3, 1e9}, 10'000, rng), 2 / 16.0);
}

TEST(SignFlip, DrawsWhereTheyAreMany) {
  Rng rng(1);
  EXPECT_DOUBLE_EQ(sign_flip_p(std::vector<double>(40, 1.0), 999, rng), 1 / 1000.0);
  // Half of 40 days one way: nothing is seen.
  std::vector<double> even(40, 1.0);
  for (std::size_t day = 0; day < 40; day += 2) even[day] = -1;
  EXPECT_DOUBLE_EQ(sign_flip_p(even, 999, rng), 1.0);
}

/// Where there is no difference, p is below 0.05 in one case of twenty.
TEST(SignFlip, IsRightlyWrong) {
  Rng rng(7);
  int below = 0;
  constexpr int kCases = 2'000;
  for (int each = 0; each < kCases; ++each) {
    std::vector<double> days;
    for (int day = 0; day < 10; ++day) days.push_back(rng.normal());
    below += sign_flip_p(days, 2'000, rng) <= 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(below / double{kCases}, 0.05, 0.015);
}

}  // namespace
}  // namespace almanac::stats
