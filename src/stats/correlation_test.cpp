// SPDX-License-Identifier: Apache-2.0
#include "stats/correlation.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

TEST(Ranks, OfEqualValuesAreTheirMeanRank) {
  const std::vector<double> values = {10, 20, 10, 30};
  EXPECT_EQ(ranks(values), (std::vector<double>{0.5, 2, 0.5, 3}));
}

TEST(Spearman, SeesOrderAndNotDistance) {
  const std::vector<double> a = {1, 2, 3, 4};
  const std::vector<double> grows = {1, 10, 100, 1000};
  const std::vector<double> falls = {9, 8, 7, -5};
  EXPECT_DOUBLE_EQ(spearman(a, grows), 1);
  EXPECT_DOUBLE_EQ(spearman(a, falls), -1);
}

TEST(Pearson, OfASampleThatDoesNotVaryIsNotANumber) {
  const std::vector<double> a = {1, 2, 3};
  const std::vector<double> same = {5, 5, 5};
  EXPECT_TRUE(std::isnan(pearson(a, same)));
}

TEST(Pearson, IsTheTextbookValue) {
  // means 2 and 3; sums of products 3, 2 and 6: 3 / sqrt(12)
  const std::vector<double> a = {1, 2, 3};
  const std::vector<double> b = {2, 2, 5};
  EXPECT_NEAR(pearson(a, b), 3 / std::sqrt(12.0), 1e-12);
}

}  // namespace
}  // namespace almanac::stats
