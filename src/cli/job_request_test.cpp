// SPDX-License-Identifier: Apache-2.0
#include "cli/job_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/wall_clock.h"

namespace almanac::cli {
namespace {

using testing::ElementsAre;

TEST(JobRequest, ReadsMemoryWithItsUnit) {
  EXPECT_EQ(parse_memory("--mem", "32G"), 32.0);
  EXPECT_EQ(parse_memory("--mem", "512M"), 0.512);
  EXPECT_EQ(parse_memory("--mem", "1.5TB"), 1500.0);
  for (const char* wrong : {"32", "G", "", "-1G", "1X", "nanG", "1e99G"}) {
    EXPECT_FALSE(parse_memory("--mem", wrong)) << wrong;
  }
}

TEST(JobRequest, ReadsIndices) {
  EXPECT_THAT(parse_indices("0-3")->list, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(parse_indices("1,3,5-7")->list, ElementsAre(1, 3, 5, 6, 7));
  EXPECT_THAT(parse_indices("0-20:10")->list, ElementsAre(0, 10, 20));
  EXPECT_EQ(parse_indices("0-9%3")->at_once, 3);
  EXPECT_EQ(parse_indices("0-9")->at_once, 0);
  for (const char* wrong : {"", "a", "3-1", "-1", "0-9%", "0-9%0", "1:0", "0-999999999"}) {
    EXPECT_FALSE(parse_indices(wrong)) << wrong;
  }
}

TEST(WallClock, ReadsTimesHereAndThere) {
  const Time now = wall_clock();
  EXPECT_EQ(parse_clock("--begin", "+2h", now), now + 2h);
  EXPECT_EQ(parse_clock("--begin", "2026-11-22T13:05:00Z", now), Time(1'795'352'700'000ms));
  EXPECT_EQ(parse_clock("--begin", "2026-11-22T13:05:00+01:00", now), Time(1'795'349'100'000ms));
  EXPECT_EQ(parse_since("--since", "7d", now), now - 24h * 7);
  // The next time it is that late: within a day.
  const auto late = parse_clock("--begin", "13:05", now);
  ASSERT_TRUE(late);
  EXPECT_GT(*late, now);
  EXPECT_LE(*late, now + 25h);
  EXPECT_EQ(clock_text(*parse_clock("--begin", "2001-02-03 04:05", now), now), "2001-02-03 04:05");
  for (const char* wrong : {"", "soon", "25:99", "+", "2h"}) {
    EXPECT_FALSE(parse_clock("--begin", wrong, now)) << wrong;
  }
}

}  // namespace
}  // namespace almanac::cli
