// SPDX-License-Identifier: Apache-2.0
#include "base/rng.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace almanac {
namespace {

TEST(Rng, GivesTheNumbersOfThePublishedGenerator) {
  // The reference implementation of SplitMix64, seed 1234567.
  Rng rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317U);
  EXPECT_EQ(rng.next(), 3203168211198807973U);
  EXPECT_EQ(rng.next(), 9817491932198370423U);
}

TEST(Rng, GivesStreamsOfOneSeedDifferentNumbers) {
  Rng first(1, 0);
  Rng second(1, 1);
  Rng again(1, 1);
  const std::uint64_t number = second.next();
  EXPECT_NE(first.next(), number);
  EXPECT_EQ(again.next(), number);
}

TEST(Rng, DrawsEachNumberBelowALimitEquallyOften) {
  Rng rng(2);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70'000;
  for (int draw = 0; draw < kDraws; ++draw) ++counts[rng.below(counts.size())];
  // Chi-squared with 6 degrees of freedom is below 22.46 in 999 of 1000 cases.
  double chi_squared = 0;
  for (const int count : counts) chi_squared += std::pow(count - kDraws / 7.0, 2) / (kDraws / 7.0);
  EXPECT_LT(chi_squared, 22.46);
}

TEST(Rng, DrawsNumbersOfTheRightMeanAndVariance) {
  struct Moments {
    double mean = 0;
    double square = 0;
  };
  constexpr int kDraws = 100'000;
  const auto moments = [](auto&& draw) {
    Moments found;
    for (int at = 0; at < kDraws; ++at) {
      const double value = draw();
      found.mean += value / kDraws;
      found.square += value * value / kDraws;
    }
    return found;
  };
  // Four standard errors of each mean.
  Rng rng(3);
  const Moments uniform = moments([&] { return rng.uniform(); });
  EXPECT_NEAR(uniform.mean, 0.5, 4 * std::sqrt(1.0 / 12 / kDraws));
  const Moments exponential = moments([&] { return rng.exponential(); });
  EXPECT_NEAR(exponential.mean, 1, 4 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(exponential.square, 2, 4 * std::sqrt(20.0 / kDraws));
  const Moments normal = moments([&] { return rng.normal(); });
  EXPECT_NEAR(normal.mean, 0, 4 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(normal.square, 1, 4 * std::sqrt(2.0 / kDraws));
}

}  // namespace
}  // namespace almanac
