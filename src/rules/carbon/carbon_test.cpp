// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

/// By brute force over all numbers of nodes in each hour: none that does as much work emits less,
/// and without the node of least worth the work would not be done.
RC_GTEST_PROP(ScaleProperty, NoOtherNodesDoAsMuchForLessCarbon, ()) {
  ElasticTask task{.on = {{0, 0}}, .least = 1, .most = *rc::gen::inRange(1, 4)};
  double gain = 20;
  double watts = 10;
  for (int nodes = 1; nodes <= task.most; ++nodes) {  // concave in power
    gain = std::max(1.0, gain - *rc::gen::inRange(0, 8));
    watts += *rc::gen::inRange(0, 20);
    task.on.push_back({task.on.back().throughput + gain, task.on.back().power_w + watts});
  }
  const auto hours = static_cast<std::size_t>(*rc::gen::inRange(1, 6));
  std::vector<double> series;
  for (std::size_t at = 0; at < hours; ++at) series.push_back(*rc::gen::inRange(1, 10) * 50);
  const auto work = [&](const std::vector<int>& nodes) {
    double sum = 0;
    for (const int each : nodes) sum += task.on[static_cast<std::size_t>(each)].throughput;
    return sum;
  };
  const double most = work(std::vector<int>(hours, task.most));
  task.work = most * *rc::gen::inRange(1, 101) / 100;
  const auto made = scale(task, series);
  RC_ASSERT(made.has_value());
  RC_ASSERT(work(*made) >= task.work - 1e-9);
  const double emitted = grams(task, series, *made);
  double least = emitted;   // of all that do the work of `made`
  double fewest = emitted;  // of all that do the task's work
  std::vector<int> tried(hours, 0);
  for (std::size_t at = 0; at < hours;) {
    if (work(tried) >= work(*made) - 1e-9) least = std::min(least, grams(task, series, tried));
    if (work(tried) >= task.work - 1e-9) fewest = std::min(fewest, grams(task, series, tried));
    for (at = 0; at < hours && ++tried[at] > task.most; ++at) tried[at] = 0;
  }
  RC_ASSERT(std::abs(least - emitted) < 1e-9);
  // Whole nodes in whole hours: the last one may do more than is left of the work.
  double largest = 0;
  for (std::size_t at = 0; at < hours; ++at) {
    for (std::size_t nodes = 1; nodes < task.on.size(); ++nodes) {
      const double watts_more = task.on[nodes].power_w - task.on[nodes - 1].power_w;
      largest = std::max(largest, watts_more / 1e3 * series[at]);
    }
  }
  RC_ASSERT(emitted <= fewest + largest + 1e-9);
}

}  // namespace
}  // namespace almanac::carbon
