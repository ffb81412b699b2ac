// SPDX-License-Identifier: Apache-2.0
#include "capacity/goal.h"

#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::capacity {
namespace {

TEST(Goal, ReadsStatisticMeasureAndBound) {
  const auto goal = parse_goal("p90 wait < 1h");
  ASSERT_TRUE(goal) << to_string(goal.error());
  EXPECT_EQ(goal->quantile, 0.9);
  EXPECT_EQ(goal->measure, Measure::wait);
  EXPECT_EQ(goal->bound, 3600);
  EXPECT_EQ(goal->text(), "p90 wait < 1h 00m");
  EXPECT_EQ(parse_goal("mean slowdown<=2.5")->text(), "mean slowdown <= 2.50");
  EXPECT_EQ(parse_goal("median completion < 90m")->text(), "median completion < 1h 30m");
  EXPECT_EQ(parse_goal(" max  wait <  2-00:00:00 ")->text(), "max wait < 2d 00h");
  EXPECT_EQ(parse_goal("p99.9 wait < 30s")->text(), "p99.9 wait < 30s");
}

TEST(Goal, RefusesAnythingElseInOneLine) {
  for (const char* const text :
       {"", "p90 wait", "p90 wait > 1h", "wait < 1h", "p0 wait < 1h", "p101 wait < 1h",
        "p90 queue < 1h", "p90 wait < 60", "p90 wait < 0s", "mean slowdown < 1h",
        "mean slowdown < 1", "p90 wait < 1h 30m", "p90 mean wait < 1h", "p90 wait < UNLIMITED"}) {
    const auto goal = parse_goal(text);
    ASSERT_FALSE(goal) << text;
    EXPECT_EQ(goal.error().code, Code::usage);
    EXPECT_THAT(to_string(goal.error()), testing::HasSubstr(fmt::format("found \"{}\"", text)));
    EXPECT_EQ(to_string(goal.error()).find('\n'), std::string::npos);
  }
}

TEST(Goal, MeasuresJobs) {
  EXPECT_EQ(parse_goal("max wait < 1h")->measured(20s, 120s, 100s), 20);
  EXPECT_EQ(parse_goal("max completion < 1h")->measured(20s, 120s, 100s), 120);
  EXPECT_EQ(parse_goal("max slowdown < 2")->measured(20s, 120s, 100s), 1.2);
  EXPECT_EQ(parse_goal("max slowdown < 2")->measured(20s, 21s, 1s), 2.1) << "bounded by 10 s";
}

TEST(Goal, KnowsWhetherItIsMet) {
  std::vector<double> waits = {0, 10, 20, 30, 3600};
  const Goal max = *parse_goal("max wait < 1h");
  EXPECT_EQ(max.statistic(waits), 3600);
  EXPECT_FALSE(max.is_met(3600));
  EXPECT_TRUE(parse_goal("max wait <= 1h")->is_met(3600));
  EXPECT_EQ(parse_goal("median wait < 1h")->statistic(waits), 20);
  EXPECT_EQ(parse_goal("mean wait < 1h")->statistic(waits), 732);
  EXPECT_FALSE(max.is_met(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(max.shown(std::numeric_limits<double>::infinity()), "never");
}

}  // namespace
}  // namespace almanac::capacity
