// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace almanac::cli {
namespace {

TEST(TimeLeft, CountsDownUntilMoreIsTold) {
  // A third was done after 10 s: 20 s were left then.
  EXPECT_EQ(time_left(1 / 3.0, 10, 10), "20s left");
  EXPECT_EQ(time_left(1 / 3.0, 10, 15), "15s left");
  EXPECT_EQ(time_left(1 / 3.0, 10, 25), "5.0s left");
  EXPECT_EQ(time_left(1 / 3.0, 10, 31), "longer than estimated") << "it never grows by itself";
}

TEST(TimeLeft, IsNotToldOfTooLittle) { EXPECT_EQ(time_left(0.005, 1, 1), "..."); }

}  // namespace
}  // namespace almanac::cli
