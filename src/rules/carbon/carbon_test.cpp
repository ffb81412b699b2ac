// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/carbon/scaling.h"

namespace almanac::carbon {
namespace {

using testing::ElementsAre;
using testing::Optional;

const ElasticTask kElastic{.on = {{0, 0}, {10, 50}, {16, 100}}, .least = 1, .most = 2, .work = 26};

TEST(Scale, TakesTheCleanestHoursFirst) {
  // In the order of worth: one node at 100, then at 200 (10/50/200) or a second at 100 (6/50/100).
  const std::vector<double> series{300, 100, 200};
  EXPECT_THAT(scale(kElastic, series), Optional(ElementsAre(0, 2, 1)));
  EXPECT_DOUBLE_EQ(grams(kElastic, series, std::vector<int>{0, 2, 1}), 0.1 * 100 + 0.05 * 200);
}

TEST(Scale, CountsOnlyThePartOfAnHourThatThereIs) {
  const ElasticTask task{
      .on = {{}, {.throughput = 1, .power_w = 1}}, .least = 1, .most = 1, .work = 1};
  EXPECT_EQ(scale(task, std::vector{1.0, 3.0, 2.0}), (std::vector{1, 0, 0}));
  EXPECT_EQ(scale(task, std::vector{1.0, 3.0, 2.0}, std::vector{0.5, 1.0, 0.5}),
            (std::vector{1, 0, 1}));
  EXPECT_FALSE(scale(task, std::vector{1.0, 3.0}, std::vector{0.5, 0.25}));
}

TEST(Scale, SaysWhereTheWorkCannotBeDone) {
  EXPECT_EQ(scale(kElastic, std::vector<double>{100}), std::nullopt);
}

}  // namespace
}  // namespace almanac::carbon
