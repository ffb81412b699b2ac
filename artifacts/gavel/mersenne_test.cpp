// SPDX-License-Identifier: Apache-2.0
#include "gavel/mersenne.h"

#include <string>

#include <gtest/gtest.h>

namespace almanac::gavel {
namespace {

// What CPython 3.11 prints for random.Random(seed).
TEST(Mersenne, DrawsAsPython) {
  Mersenne draws(42);
  EXPECT_EQ(draws.uniform(), 0.6394267984578837);
  EXPECT_EQ(draws.uniform(), 0.025010755222666936);
}

TEST(Mersenne, DrawsWholeNumbersAsPython) {
  Mersenne draws(7);
  std::vector<std::uint32_t> drawn;
  for (const std::uint32_t n : {3U, 3U, 3U, 10U, 10U, 1000U}) drawn.push_back(draws.below(n));
  EXPECT_EQ(drawn, (std::vector<std::uint32_t>{1, 0, 1, 0, 1, 840}));
}

TEST(Mersenne, ShufflesAsPython) {
  Mersenne draws(5);
  using Names = std::vector<std::string>;
  std::vector<Names> shuffled(3, {"v100", "p100", "k80"});
  for (Names& each : shuffled) draws.shuffle(each);
  EXPECT_EQ(shuffled[1], (Names{"v100", "p100", "k80"}));
  EXPECT_EQ(shuffled[2], (Names{"p100", "v100", "k80"}));
}

}  // namespace
}  // namespace almanac::gavel
