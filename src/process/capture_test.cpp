// SPDX-License-Identifier: Apache-2.0
#include "process/capture.h"

#include <gtest/gtest.h>

namespace almanac::process {
namespace {

TEST(Capture, GivesWhatACommandWroteAndHowItEnded) {
  const auto said = capture(
      {.argv = {"sh", "-c", "echo $WORD; echo oh >&2; exit 3"}, .environment = {{"WORD", "ah"}}},
      60s);
  ASSERT_TRUE(said) << to_string(said.error());
  EXPECT_EQ(said->out, "ah\n");
  EXPECT_EQ(said->err, "oh\n");
  EXPECT_EQ(said->ending.status, 3);
}

TEST(Capture, TakesMoreThanAPipeHolds) {
  const auto said = capture({.argv = {"head", "-c", "3000000", "/dev/zero"}}, 60s);
  ASSERT_TRUE(said) << to_string(said.error());
  EXPECT_EQ(said->out.size(), 3'000'000U);
  EXPECT_TRUE(said->ending.good());
}

// Those that end while they are looked at: a wake that is missed lasts a minute, and many of them
// longer than a test may.
TEST(Capture, MissesNoEnd) {
  for (int count = 0; count < 1000; ++count) {
    const auto said = capture({.argv = {"true"}}, 10min);
    ASSERT_TRUE(said) << to_string(said.error());
    ASSERT_TRUE(said->ending.good());
  }
}

TEST(Capture, GivesUpOnOneThatDoesNotEnd) {
  const auto said = capture({.argv = {"sleep", "1000"}}, 50ms);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, Code::unavailable);
}

// A command may leave something in the background that keeps its pipes open.
TEST(Capture, IsGivenUpWhenItIsToStop) {
  const Bell stop;
  stop.ring();
  const auto said = capture({.argv = {"sh", "-c", "sleep 1000 & sleep 1000"}}, 10min, &stop);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, Code::unavailable);
}

}  // namespace
}  // namespace almanac::process
