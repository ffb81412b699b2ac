// SPDX-License-Identifier: Apache-2.0
#include "steer/stage.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace almanac::steer {
namespace {

TEST(StageTest, SaysWhenItTakesTooLongAndWaitsOn) {
  FakeClock clock;
  std::atomic<bool> is_let_go = false;
  int in_time = 0;
  int late = 0;
  wait_for(
      {"hanging", 2min}, clock, [&] { is_let_go.wait(false); }, 1ms,
      [&](bool is_late) {
        ++(is_late ? late : in_time);
        clock.advance(1min);
        if (late < 2) return;
        is_let_go = true;
        is_let_go.notify_all();
      });
  EXPECT_EQ(in_time, 2);
  EXPECT_GE(late, 2);
  EXPECT_TRUE(is_let_go);
}

TEST(StageTest, IsNeverLateWhereItHasTime) {
  const FakeClock clock;
  std::atomic<bool> is_let_go = false;
  int beats = 0;
  wait_for(
      {"slow", 1h}, clock, [&] { is_let_go.wait(false); }, 1ms,
      [&](bool is_late) {
        EXPECT_FALSE(is_late);
        if (++beats < 3) return;
        is_let_go = true;
        is_let_go.notify_all();
      });
  EXPECT_GE(beats, 3);
}

}  // namespace
}  // namespace almanac::steer
