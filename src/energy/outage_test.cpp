// SPDX-License-Identifier: Apache-2.0

/// \file
/// Outages of the meter, told from a cluster that falls idle.
#include "energy/outage.h"

#include <limits>

#include <gtest/gtest.h>

namespace almanac::energy {
namespace {

constexpr std::size_t kStepsPerDay = 144;

OutageFilter after_a_day_of(double value) {
  OutageFilter filter(kStepsPerDay);
  for (std::size_t at = 0; at < kStepsPerDay; ++at) EXPECT_FALSE(filter.is_outage(value));
  return filter;
}

TEST(OutageFilter, DoesNotBelieveThatAllFallIdleAtOnce) {
  OutageFilter filter = after_a_day_of(300);
  EXPECT_TRUE(filter.is_outage(0));
  EXPECT_TRUE(filter.is_outage(29));
  EXPECT_EQ(filter.lasted(), 2U);
  EXPECT_FALSE(filter.is_outage(31));
  EXPECT_EQ(filter.lasted(), 0U);
}

TEST(OutageFilter, BelievesThatASmallClusterFallsIdle) {
  OutageFilter filter = after_a_day_of(99);
  EXPECT_FALSE(filter.is_outage(0));
}

TEST(OutageFilter, CountsStepsWithoutAValue) {
  OutageFilter filter = after_a_day_of(300);
  EXPECT_TRUE(filter.is_outage(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(filter.is_outage(0));
  EXPECT_EQ(filter.lasted(), 2U);
}

TEST(OutageFilter, BelievesAfterAWeekThatItIsNone) {
  OutageFilter filter = after_a_day_of(300);
  for (std::size_t at = 0; at < 7 * kStepsPerDay; ++at) EXPECT_TRUE(filter.is_outage(0));
  EXPECT_FALSE(filter.is_outage(0));
  EXPECT_FALSE(filter.is_outage(0));
}

}  // namespace
}  // namespace almanac::energy
