// SPDX-License-Identifier: Apache-2.0
#include "gavel/regimes.h"

#include <gtest/gtest.h>

namespace almanac::gavel {
namespace {

// LM has 59,675 samples: 746 steps an epoch at batch 80, 5,968 at 10, 2,984 at 20.
const RegimeTables kTables{.kinds = {{{"LM", 10, 1}, 0}, {{"LM", 20, 1}, 1}, {{"LM", 80, 1}, 2}},
                           .patterns = {{{"LM", 10, 1}, {10, 10, 20, 20, 10}}}};

TEST(Regimes, DoubleWhereThePatternDoes) {
  Regimes regimes({{7, {.model = "LM", .batch = 10, .mode = Mode::gns}}}, kTables);
  Progress progress{.kind = 0, .steps = 5 * 5968, .done = 1};
  regimes.round_over(7, progress);  // in epoch 1, and 2 is larger
  regimes.ran(7, progress);
  EXPECT_EQ(progress.kind, 1U);
  EXPECT_EQ(progress.steps, 5 * 2984);
  EXPECT_EQ(progress.done, 2984);  // the epoch that was begun counts as done
  regimes.ran(7, progress);
  EXPECT_EQ(progress.kind, 1U);
}

TEST(Regimes, TrainWithTheLargestBatchBehindTheCriticalEpochs) {
  Regimes regimes({{0, {.model = "LM", .batch = 10, .mode = Mode::accordion}},
                   {1, {.model = "LM", .batch = 10}}},
                  kTables);
  Progress progress{.kind = 0, .steps = 20 * 5968, .done = 9 * 5968};
  regimes.round_over(0, progress);
  regimes.ran(0, progress);
  EXPECT_EQ(progress.kind, 0U);
  progress.done = 10 * 5968;
  for (const int number : {0, 1}) regimes.round_over(number, progress);
  Progress fixed = progress;
  regimes.ran(1, fixed);
  EXPECT_EQ(fixed.kind, 0U);
  regimes.ran(0, progress);
  EXPECT_EQ(progress.kind, 2U);
  EXPECT_EQ(progress.done, 10 * 746);
}

TEST(Regimes, EndJobsThatRunHalfAsLongAgain) {
  const Regimes regimes({{0, {.model = "LM", .batch = 10, .exclusive_s = 100.9}}}, kTables);
  EXPECT_FALSE(regimes.is_cut_off(0, 150));
  EXPECT_TRUE(regimes.is_cut_off(0, 150.1));
}

}  // namespace
}  // namespace almanac::gavel
