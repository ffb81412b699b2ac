// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/application.h"

#include <gtest/gtest.h>

namespace almanac::elastic {
namespace {

StepTable small_table() {
  StepTable table;
  table.measure(12, 8, {.step_s = 3, .sync_s = 1});
  table.measure(12, 4, {.step_s = 2, .sync_s = 0.5});
  table.interpolate(2, 4, 4, 6, {.step_s = 5, .sync_s = 2}, {.step_s = 1, .sync_s = 0});
  table.interpolate(2, 4, 7, 9, {.step_s = 9, .sync_s = 3}, {.step_s = 0.5, .sync_s = 0});
  table.sort();
  return table;
}

TEST(StepTable, LiesOnTheLineBetweenTwoMeasurements) {
  const auto time = small_table().at(std::vector{1, 2}, 6);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->step_s, 2.5);
  EXPECT_DOUBLE_EQ(time->sync_s, 0.75);
  EXPECT_DOUBLE_EQ(time->accumulation_s(), 1.75);
}

TEST(StepTable, ARingMayBeginAtAnyNode) {
  EXPECT_TRUE(small_table().at(std::vector{2, 1}, 8));
  EXPECT_FALSE(small_table().at(std::vector{2, 1}, 9)) << "beyond what was measured";
}

TEST(StepTable, ShapesThatWereNotMeasuredFollowSegments) {
  const StepTable table = small_table();
  EXPECT_DOUBLE_EQ(table.at(std::vector{1, 3}, 6)->step_s, 7);
  EXPECT_DOUBLE_EQ(table.at(std::vector{2, 2}, 8)->step_s, 9.5);
  EXPECT_FALSE(table.at(std::vector{2, 2}, 3));
  EXPECT_FALSE(table.at(std::vector{2, 2}, 10));
  EXPECT_FALSE(table.at(std::vector{4}, 5));
}

Application two_runs() {
  Application made{.name = "small", .initial_batch = 10, .max_batch = 20};
  made.validated[10] = {{.progress = 100, .iteration = 100, .gradient = {.sqr = 1, .var = 4}},
                        {.progress = 200, .iteration = 200, .gradient = {.sqr = 2, .var = 8}}};
  made.validated[20] = {{.progress = 90, .iteration = 50, .gradient = {.sqr = 3, .var = 6}},
                        {.progress = 210, .iteration = 100, .gradient = {.sqr = 4, .var = 2}}};
  return made;
}

TEST(Application, ProgressIsThatOfTheSlowestRun) {
  const Application application = two_runs();
  EXPECT_EQ(application.progress_after(0), 0);
  EXPECT_EQ(application.progress_after(1), 90);
  EXPECT_EQ(application.progress_after(2), 200);
  EXPECT_EQ(application.epochs_known(), 2);
}

TEST(Application, BatchesBetweenRunsLieOnTheLineBetweenThem) {
  const Application application = two_runs();
  EXPECT_DOUBLE_EQ(application.gradient(15, 0).sqr, 2);
  EXPECT_DOUBLE_EQ(application.gradient(15, 1).var, 5);
  EXPECT_DOUBLE_EQ(application.iterations(12, 0), 90);
  EXPECT_DOUBLE_EQ(application.iterations(20, 1), 100);
  EXPECT_FALSE(application.covers(9));
  EXPECT_FALSE(application.covers(20.5));
}

TEST(StepGain, ALargerBatchGainsAsMuchAsItsGradientIsNoisy) {
  EXPECT_DOUBLE_EQ(step_gain({.sqr = 1, .var = 1}, 10, 10), 1);
  EXPECT_DOUBLE_EQ(step_gain({.sqr = 0, .var = 1}, 40, 10), 4) << "nothing but noise";
  EXPECT_DOUBLE_EQ(step_gain({.sqr = 1, .var = 0}, 40, 10), 1) << "no noise";
  EXPECT_DOUBLE_EQ(step_gain({.sqr = 0, .var = 0}, 40, 10), 1) << "nothing was measured";
}

}  // namespace
}  // namespace almanac::elastic
