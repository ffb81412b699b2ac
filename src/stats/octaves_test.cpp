// SPDX-License-Identifier: Apache-2.0
#include "stats/octaves.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

const std::vector<double> kWeights = {1, 1, 2, 0, 4};  // 1 | 2 | 3-4 | 5-8 | 9-16

TEST(Octaves, QuantileKeepsTheSharesAtPowersOfTwo) {
  const Octaves octaves(kWeights);
  std::vector<double> found(5);
  constexpr int kSteps = 8000;
  for (int i = 0; i < kSteps; ++i) {
    const auto value = static_cast<double>(octaves.quantile((i + 0.5) / kSteps));
    found[static_cast<std::size_t>(std::ceil(std::log2(value)))] += 8.0 / kSteps;
  }
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(found[i], kWeights[i], 0.01) << i;
}

TEST(Octaves, QuantileGoesThroughTheMiddleOfAnOctaveInTheLogarithm) {
  const Octaves octaves(kWeights);
  EXPECT_EQ(octaves.quantile(0), 1);
  EXPECT_EQ(octaves.quantile(0.2), 2);
  EXPECT_EQ(octaves.quantile(0.75), 12);  // half-way: 8 x sqrt(2) = 11.3
  EXPECT_EQ(octaves.quantile(1), 16);
}

TEST(Octaves, MeansBetweenRanksSumToTheMean) {
  const Octaves octaves(kWeights);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    sum += static_cast<double>(octaves.mean_between(i / 1000.0, (i + 1) / 1000.0));
  }
  double mean = 0;
  for (std::size_t i = 0; i < 5; ++i) mean += kWeights[i] / 8 * Octaves::mean_of(i);
  EXPECT_NEAR(sum / 1000, mean, 0.1);  // rounding up adds half a second on average, as mean_of says
}

TEST(Octaves, CountsByPowersOfTwo) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 16, 9};
  EXPECT_EQ(Octaves::count(values), (std::vector<double>{2, 1, 2, 1, 2}));
}

}  // namespace
}  // namespace almanac::stats
