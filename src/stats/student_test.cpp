// SPDX-License-Identifier: Apache-2.0
#include "stats/student.h"

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

// As printed in any table of the distribution.
TEST(StudentTest, AsTheTablesHaveIt) {
  EXPECT_NEAR(student_two_tailed(0.05, 1), 12.706, 0.0005);
  EXPECT_NEAR(student_two_tailed(0.05, 2), 4.303, 0.0005);
  EXPECT_NEAR(student_two_tailed(0.05, 3), 3.182, 0.0005);
  EXPECT_NEAR(student_two_tailed(0.05, 9), 2.262, 0.0005);
  EXPECT_NEAR(student_two_tailed(0.05, 19), 2.093, 0.0005);
  EXPECT_NEAR(student_two_tailed(0.05, 120), 1.980, 0.0005);
  EXPECT_NEAR(student_two_tailed(0.01, 4), 4.604, 0.0005);
  EXPECT_NEAR(student_two_tailed(0.5, 10), 0.700, 0.0005);
}

}  // namespace
}  // namespace almanac::stats
