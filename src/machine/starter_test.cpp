// SPDX-License-Identifier: Apache-2.0
#include "machine/starter.h"

#include <gtest/gtest.h>

namespace almanac::machine {
namespace {

using store::JobNumber;

constexpr JobNumber kOne{1};
constexpr JobNumber kTwo{2};
constexpr Time kBegin{1h};

TEST(StarterTest, WaitsTwiceAsLongAfterEachFailureAMinuteAtMost) {
  Starter starter;
  EXPECT_FALSE(starter.is_failing());
  Time now = kBegin;
  for (const Duration pause : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    starter.begins(kOne, now);
    ASSERT_EQ(starter.failed(kOne, "the disk is full", now), pause);
    EXPECT_EQ(starter.again(), now + pause);
    starter.look(now + pause - 1ms);
    EXPECT_TRUE(starter.rests());
    now += pause;
    starter.look(now);
    EXPECT_FALSE(starter.rests());
  }
  EXPECT_EQ(starter.trouble(), "jobs cannot be started, after 8 tries: the disk is full");
}

TEST(StarterTest, CountsOneFailureOfThoseThatWereStartedTogether) {
  Starter starter;
  EXPECT_TRUE(starter.failed(kOne, "x", kBegin));
  EXPECT_FALSE(starter.failed(kTwo, "x", kBegin));
  EXPECT_EQ(starter.again(), kBegin + 1s);
}

TEST(StarterTest, TriesOneUntilItsCommandRunsOrItHasLivedForLong) {
  Starter starter;
  starter.failed(kOne, "x", kBegin);
  starter.begins(kTwo, kBegin);
  EXPECT_TRUE(starter.is_tried(kTwo));
  starter.has_process(kBegin);
  EXPECT_EQ(starter.again(), kBegin + 100ms);
  EXPECT_FALSE(starter.has_begun(false, kBegin + 1s));
  EXPECT_EQ(starter.again(), kBegin + 1100ms);
  EXPECT_TRUE(starter.has_begun(true, kBegin + 1s));
  EXPECT_TRUE(starter.has_begun(false, kBegin + 5s));
  starter.works();
  EXPECT_FALSE(starter.is_failing());
  EXPECT_EQ(starter.trouble(), "");
  EXPECT_FALSE(starter.tried());
}

}  // namespace
}  // namespace almanac::machine
