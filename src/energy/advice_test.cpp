// SPDX-License-Identifier: Apache-2.0

/// \file
/// What to do now, on a demand that rises every morning.
#include "energy/advice.h"

#include <gtest/gtest.h>

namespace almanac::energy {
namespace {

constexpr std::size_t kDay = 144;

/// 20 nodes at night, 60 from 8 to 20 o'clock, of 100; until 6 o'clock of the last day.
Demand office_hours(std::size_t days) {
  Demand demand;
  for (std::size_t at = 0; at < days * kDay + 36; ++at) {
    const std::size_t hour = at % kDay / 6;
    demand.used.push_back(hour >= 8 && hour < 20 ? 60 : 20);
    demand.total.push_back(100);
  }
  return demand;
}

TEST(Advice, LetsNodesSleepAndWakesThemForTheMorning) {
  const Demand demand = office_hours(15);
  const Advice advice = advise(demand, {.prices = {.delayed = 1, .wake_up = 0}});
  EXPECT_EQ(advice.now, demand.start + 15 * 24h + 6h);
  EXPECT_EQ(advice.used, 20);
  EXPECT_LT(advice.on, 100);
  ASSERT_EQ(advice.ahead.size(), 5U);
  int on = advice.on;
  Time begins = advice.now;
  for (const Ahead& ahead : advice.ahead) {
    EXPECT_GE(ahead.wake_at, advice.now);
    EXPECT_LE(ahead.wake_at, begins);
    on += ahead.wake;
    EXPECT_GE(on, ahead.enough);
    begins = ahead.until;
  }
  EXPECT_NEAR(advice.ahead[3].median, 60, 5);  // until noon
  EXPECT_GE(advice.ahead.back().enough, 60);
}

TEST(Advice, AfterOneStepKeepsEverythingOn) {
  const Advice advice = advise({.used = {7}, .total = {9}}, {});
  EXPECT_EQ(advice.on, 9);
}

}  // namespace
}  // namespace almanac::energy
