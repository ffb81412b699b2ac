// SPDX-License-Identifier: Apache-2.0
#include "gavel/unsolved.h"

#include <gtest/gtest.h>

namespace almanac::gavel {
namespace {

using timeshare::Fractions;
using timeshare::Problem;

TEST(FirstCome, StopsAtAJobForWhichNoTypeHasRoom) {
  const Problem problem{
      .gpus = {2, 1}, .jobs = {{.rates = {1, 2}}, {.rates = {1, 2}, .gpus = 2}, {.rates = {1, 2}}}};
  EXPECT_EQ(first_come(problem), (Fractions{{0, 1}, {1, 0}, {0, 0}}));
}

// Three tickets of four have three GPUs of four, cut to the whole time of one.
TEST(EqualTime, IsSharedByTickets) {
  const Problem problem{.gpus = {1, 1},
                        .jobs = {{.rates = {1, 1}, .weight = 3}, {.rates = {1, 1}, .weight = 1}}};
  EXPECT_EQ(equal_time(problem), (Fractions{{0.5, 0.5}, {0.25, 0.25}}));
}

}  // namespace
}  // namespace almanac::gavel
