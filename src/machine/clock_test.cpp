// SPDX-License-Identifier: Apache-2.0

/// \file
/// A wall clock that is set, and how long a job ran all the same.
#include "machine/clock.h"

#include <gtest/gtest.h>

#include "machine/life.h"

namespace almanac::machine {
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

TEST(EndedAt, IsWhatTheShepherdCountedThoughTheWallWasSet) {
  shepherd::Exit exit{.start = kNoon, .end = kNoon + 48h + 12s, .ran = 12s};
  EXPECT_EQ(ended_at(exit, kNoon, kNoon + 48h + 12s, kNoon + 48h + 12s), kNoon + 12s);
  exit.end = kNoon + 12s;
  EXPECT_EQ(ended_at(exit, kNoon, kNoon + 12s, kNoon + 12s), kNoon + 12s);
  EXPECT_EQ(ended_at(exit, kNoon, kNoon + 3h, kNoon + 3h), kNoon + 12s) << "nobody looked";
  EXPECT_EQ(ended_at(exit, kNoon + 1h, kNoon + 1h + 12s, kNoon + 12s), kNoon + 1h + 12s)
      << "the service is ahead of the wall";
}

}  // namespace
}  // namespace almanac::machine
