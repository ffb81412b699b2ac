// SPDX-License-Identifier: Apache-2.0
#include "cli/wall_clock.h"

#include <gtest/gtest.h>

namespace almanac::cli {
namespace {

TEST(WallClock, ReadsSinceWhen) {
  const Time now = wall_clock();
  const auto since = [&](const char* text) { return parse_since("--since", text, now); };
  EXPECT_EQ(since("7d"), now - 24h * 7);
  EXPECT_EQ(since("2026-11-22T13:05:00Z"), Time(1'795'352'700'000ms));
  EXPECT_EQ(since("2026-11-22T13:05:00+01:00"), Time(1'795'349'100'000ms));
  EXPECT_EQ(clock_text(*since("2001-02-03 04:05"), now), "2001-02-03 04:05");
  EXPECT_EQ(clock_text(*since("2001-02-03"), now), "2001-02-03 00:00");
  for (const char* wrong : {"", "soon", "2026-13-01", "7", "UNLIMITED"}) {
    EXPECT_FALSE(since(wrong)) << wrong;
  }
}

TEST(WallClock, LeavesOutTheDateOfToday) {
  const Time now = wall_clock();
  EXPECT_EQ(clock_text(now, now).size(), 8U);
  EXPECT_EQ(clock_text(now - 24h * 2, now).size(), 16U);
  EXPECT_EQ(clock_text(kNoTime, now), "");
}

}  // namespace
}  // namespace almanac::cli
