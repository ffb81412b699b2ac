// SPDX-License-Identifier: Apache-2.0
#include "stats/bootstrap.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "stats/normal.h"

namespace almanac::stats {
namespace {

double weighted_mean(std::span<const double> values, std::span<const std::uint32_t> drawn) {
  double sum = 0, count = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    sum += values[at] * drawn[at];
    count += drawn[at];
  }
  return sum / count;
}

TEST(Bootstrap, DrawsAsManyBlocksAsThereAre) {
  Rng rng(1);
  int times = 0;
  bootstrap(7, 50, rng, [&](std::span<const std::uint32_t> drawn) {
    EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), 0), 7);
    ++times;
  });
  EXPECT_EQ(times, 50);
}

/// The interval of a mean of n normal values is 1.96 / sqrt(n) wide to each side, and holds the
/// true mean about 95 times in 100.
TEST(Bootstrap, CoversTheMeanAsOftenAsItSays) {
  Rng rng(2);
  constexpr int kSamples = 300;
  int covered = 0;
  double width = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<double> values(60);
    for (double& value : values) value = normal_draw(rng);
    std::vector<double> draws;
    bootstrap(values.size(), 400, rng, [&](std::span<const std::uint32_t> drawn) {
      draws.push_back(weighted_mean(values, drawn));
    });
    const auto [low, high] = middle_95(draws);
    covered += low <= 0 && 0 <= high;
    width += (high - low) / kSamples;
  }
  EXPECT_NEAR(width, 2 * 1.96 / std::sqrt(60.0), 0.03);
  EXPECT_NEAR(static_cast<double>(covered) / kSamples, 0.94, 0.04);
}

TEST(Bootstrap, HasNoIntervalForNothing) {
  std::vector<double> none{std::nan("")};
  EXPECT_TRUE(std::isnan(middle_95(none).first));
}

}  // namespace
}  // namespace almanac::stats
