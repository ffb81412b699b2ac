// SPDX-License-Identifier: Apache-2.0
#include "stats/even_ranks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "stats/normal.h"

namespace almanac::stats {
namespace {

TEST(EvenRanks, OfAFewValuesAreTheirOrder) {
  const std::vector<float> values = {0.5F, -2, 1, 20};
  const EvenRanks rank(values);
  EXPECT_EQ(std::floor(rank(-2)), 0);
  EXPECT_EQ(std::floor(rank(0.5F)), 1);
  EXPECT_EQ(std::floor(rank(1)), 2);
  EXPECT_EQ(std::floor(rank(20)), 3);  // beyond the reach: counted at the end
  EXPECT_LT(rank(1000), 4);
}

TEST(EvenRanks, FillTheIntervalEvenlyWhateverTheShape) {
  Rng rng(3);
  std::vector<float> values(50000);
  for (float& value : values) {
    value = static_cast<float>(std::exp(normal_draw(rng) / 2) - 1);
  }
  const EvenRanks rank(values);
  std::vector<double> ranks;
  for (const float value : values) ranks.push_back(rank(value));
  std::sort(ranks.begin(), ranks.end());
  // Off by what one bin holds: at most density 0.9 x 1/512 of the sample.
  const double bin = 0.9 / 512 * static_cast<double>(values.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ASSERT_NEAR(ranks[i], static_cast<double>(i), bin);
  }
}

}  // namespace
}  // namespace almanac::stats
