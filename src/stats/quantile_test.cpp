// SPDX-License-Identifier: Apache-2.0
#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::stats {
namespace {

TEST(Quantile, OfInfiniteValuesIsInfinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> values{kInfinity, 1, kInfinity, 2, kInfinity};
  EXPECT_EQ(quantile(values, 0.2), 1.8);
  EXPECT_EQ(quantile(values, 0.3), kInfinity);
  EXPECT_EQ(quantile(values, 0.8), kInfinity) << "between two infinite values";
}

TEST(Quantile, InterpolatesBetweenOrderStatisticsAsNumpyDoes) {
  // numpy.quantile([7, 1, 3, 5], [0, .25, .5, .9, 1]) = 1, 2.5, 4, 6.4, 7
  const std::vector<double> values = {7, 1, 3, 5};
  const auto at = [&](double q) {
    std::vector<double> scratch = values;
    return quantile(scratch, q);
  };
  EXPECT_DOUBLE_EQ(at(0), 1);
  EXPECT_DOUBLE_EQ(at(0.25), 2.5);
  EXPECT_DOUBLE_EQ(at(0.5), 4);
  EXPECT_DOUBLE_EQ(at(0.9), 6.4);
  EXPECT_DOUBLE_EQ(at(1), 7);
}

TEST(Quantile, OfNothingIsNotANumber) {
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
  EXPECT_TRUE(std::isnan(quantile_sorted({}, 0.5)));
}

RC_GTEST_PROP(Quantile, IsTheSameBySelectionAndBySorting, ()) {
  auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(-1000, 1000), [](int x) { return x / 4.0; })));
  const double q = *rc::gen::inRange(0, 1001) / 1000.0;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  RC_ASSERT(quantile(values, q) == quantile_sorted(sorted, q));
}

}  // namespace
}  // namespace almanac::stats
