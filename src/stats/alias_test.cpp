// SPDX-License-Identifier: Apache-2.0
#include "stats/alias.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

TEST(Alias, DrawsEachChoiceByItsWeight) {
  const std::vector<double> weights = {5, 0, 1, 3, 1};
  const Alias alias(weights);
  Rng rng(7);
  std::vector<int> drawn(weights.size());
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) ++drawn[alias.draw(rng)];
  EXPECT_EQ(drawn[1], 0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double share = weights[i] / 10;
    // Four standard errors of a share.
    EXPECT_NEAR(drawn[i] / double{kDraws}, share, 4 * std::sqrt(share * (1 - share) / kDraws));
  }
}

TEST(Alias, OfOneChoiceDrawsIt) {
  const std::vector<double> weights = {0.3};
  Rng rng(1);
  EXPECT_EQ(Alias(weights).draw(rng), 0U);
}

}  // namespace
}  // namespace almanac::stats
