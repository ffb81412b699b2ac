// SPDX-License-Identifier: Apache-2.0

/// \file
/// A wall clock that is set.
#include "service/clock.h"

#include <gtest/gtest.h>

namespace almanac::service {
namespace {

constexpr Time kNoon{Duration{1'700'000'000'000}};

TEST(Clock, FollowsAWallThatIsSetAheadAndSaysHowFar) {
  Clock clock(Time{}, kNoon, 10s);
  EXPECT_EQ(clock.now(kNoon + 5s, 15s), kNoon + 5s);
  EXPECT_EQ(clock.take_jump(), 0s);
  EXPECT_EQ(clock.now(kNoon + 48h + 6s, 16s), kNoon + 48h + 6s);
  EXPECT_EQ(clock.take_jump(), 48h);
  EXPECT_EQ(clock.take_jump(), 0s) << "told once";
  EXPECT_EQ(clock.now(kNoon + 7s, 17s), kNoon + 48h + 7s) << "never backwards";
  EXPECT_EQ(clock.take_jump(), 0s);
}

}  // namespace
}  // namespace almanac::service
