// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formulas/purchase.h"
#include "formulas/waiting.h"

namespace almanac::carbon {
namespace {

using testing::ElementsAre;

constexpr Step kHour = kStepsAnHour;

TEST(Intensity, PutsMissingHoursOnTheLineBetweenTheirNeighbours) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> hourly{none, 10, none, none, 40, none};
  fill_gaps(hourly);
  EXPECT_THAT(hourly, ElementsAre(10, 10, 20, 30, 40, 40));
}

TEST(Intensity, SumsPartsOfHours) {
  const Intensity intensity({100, 300});
  EXPECT_EQ(intensity.end(), 2 * kHour);
  EXPECT_DOUBLE_EQ(intensity.sum(kHour - 10, kHour + 20), 10 * 100 + 20 * 300);
  EXPECT_DOUBLE_EQ(intensity.sum(2 * kHour - 1, 3 * kHour), 300);
  EXPECT_DOUBLE_EQ(intensity.grams_a_watt(0, kHour), 0.1);
}

/// Half past midnight, an hour long, and may wait for three.
const Task kTask{.arrival = kHour / 2, .length = kHour, .usual = kHour, .waiting = 3 * kHour};
const Intensity kSeries(std::vector<double>{500, 400, 100, 300, 200, 600});

TEST(Plan, WaitsForWhatItIsTold) {
  const auto start = [](WaitFor what) { return plan(kSeries, what, kTask).front().start; };
  EXPECT_EQ(start(WaitFor::nothing), kHour / 2);
  EXPECT_EQ(start(WaitFor::the_end), 3 * kHour + kHour / 2);
  EXPECT_EQ(start(WaitFor::lowest_slot), 2 * kHour);
  // By the hour from its arrival on: half of it at 100 and half at 300 is the least.
  EXPECT_EQ(start(WaitFor::lowest_window), 2 * kHour + kHour / 2);
  // Two hours later 250 are saved in 3 hours, one hour later 200 in 2.
  EXPECT_EQ(start(WaitFor::most_saved_a_time), kHour + kHour / 2);
}

TEST(Plan, CutsAJobIntoTheLowestSteps) {
  const Task task{.arrival = 0, .length = 2 * kHour, .usual = 0, .waiting = 3 * kHour};
  EXPECT_THAT(plan(kSeries, WaitFor::lowest_steps, task),
              ElementsAre(Piece{2 * kHour, kHour}, Piece{4 * kHour, kHour}));
}

TEST(Plan, RunsBelowTheThresholdUntilItHasWaitedEnough) {
  // The 30th percentile of the six hours is 250.
  const Task task{.arrival = 0, .length = 2 * kHour, .usual = 0, .waiting = 2 * kHour};
  EXPECT_THAT(plan(kSeries, WaitFor::below_threshold, task),
              ElementsAre(Piece{2 * kHour, 2 * kHour}));
}

TEST(Buy, GivesReservedCoresToWhomTheySuffice) {
  const std::vector<CoreJob> jobs{{.task = {.arrival = 0, .length = kHour}, .cores = 2},
                                  {.task = {.arrival = 1, .length = kHour}, .cores = 2},
                                  {.task = {.arrival = 2, .length = kHour}, .cores = 1}};
  const auto bought = buy(jobs, {0, 9 * kHour, 9 * kHour}, {.reserved = 3, .early = true});
  ASSERT_EQ(bought.size(), 3U);
  EXPECT_EQ(bought[1].job, 2U) << "one core is left for the third";
  EXPECT_EQ(bought[1].piece.start, 2);
  EXPECT_EQ(bought[2].piece.start, kHour + 1) << "cores serve from the step after their job's end";
  for (const BoughtPiece& each : bought) EXPECT_EQ(each.usd, 0);
  EXPECT_DOUBLE_EQ(reserved_usd({.reserved = 3}, bought),
                   3 * kReservedUsd * static_cast<double>(kHour + 1) / static_cast<double>(kHour));
}

TEST(Buy, PaysForWhatDoesNotFit) {
  const std::vector<CoreJob> jobs{
      {.task = {.arrival = 0, .length = kHour}, .cores = 4},
      {.task = {.arrival = 0, .length = kHour}, .cores = 1, .on_spot = true}};
  const auto bought = buy(jobs, {0, 0}, {.reserved = 3});
  EXPECT_DOUBLE_EQ(bought[0].usd, 4 * kOnDemandUsd);
  EXPECT_DOUBLE_EQ(bought[1].usd, kSpotUsd);
}

}  // namespace
}  // namespace almanac::carbon
