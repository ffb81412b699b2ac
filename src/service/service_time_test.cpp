// SPDX-License-Identifier: Apache-2.0
#include "service/service_time.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace almanac::service {
namespace {

class ServiceTimeTest : public testing::Test {
 protected:
  FakeClock clock_;
  Time noon_ = clock_.wall();
};

TEST_F(ServiceTimeTest, FollowsAWallClockThatIsSetAheadAndReportsTheJumpOnce) {
  ServiceTime time(clock_, Time{});
  clock_.advance(5s);
  EXPECT_EQ(time.now(), noon_ + 5s);
  EXPECT_EQ(time.take_jump(), 0s);
  clock_.advance(1s);
  clock_.set_wall(noon_ + 48h + 6s);
  EXPECT_EQ(time.now(), noon_ + 48h + 6s);
  EXPECT_EQ(time.take_jump(), 48h);
  EXPECT_EQ(time.take_jump(), 0s) << "reported once";
}

TEST_F(ServiceTimeTest, GoesOnWhereTheWallClockIsSetBack) {
  ServiceTime time(clock_, Time{});
  clock_.set_wall(noon_ - 48h);
  clock_.advance(1s);
  EXPECT_EQ(time.now(), noon_ + 1s);
  EXPECT_EQ(time.take_jump(), 0s);
}

TEST_F(ServiceTimeTest, CountsWhileTheMachineSleeps) {
  ServiceTime time(clock_, Time{});
  clock_.sleep(8h);
  EXPECT_EQ(time.now(), noon_ + 8h);
  EXPECT_EQ(time.take_jump(), 0s);
}

TEST_F(ServiceTimeTest, NeverStartsBeforeItsFloor) {
  ServiceTime time(clock_, noon_ + 1h);
  EXPECT_EQ(time.now(), noon_ + 1h);
  clock_.advance(1s);
  EXPECT_EQ(time.now(), noon_ + 1h + 1s);
}

}  // namespace
}  // namespace almanac::service
