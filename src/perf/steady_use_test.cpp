// SPDX-License-Identifier: Apache-2.0
#include "perf/steady_use.h"

#include <gtest/gtest.h>

namespace almanac::perf {
namespace {

/// A job that has begun at 0 and whose GPUs compute since 5 s: from 20 s on counts.
SteadyUse begun() {
  SteadyUse made;
  made.start(Time{0s});
  made.add({Time{0s}, Time{5s}, 0.3});
  return made;
}

void add_every_5s(SteadyUse& use, Duration from, Duration to, double share) {
  for (Duration at = from; at < to; at += 5s) use.add({Time{at}, Time{at + 5s}, share});
}

TEST(SteadyUse, KnowsNothingBeforeAnythingWasMeasured) {
  SteadyUse use;
  EXPECT_FALSE(use.mean());
  use.start(Time{100s});
  EXPECT_FALSE(use.mean());
}

TEST(SteadyUse, TellsWhenEnoughWasSeenAfterSettling) {
  SteadyUse use = begun();
  add_every_5s(use, 5s, 20s, 0.1);
  add_every_5s(use, 20s, 45s, 0.8);
  EXPECT_FALSE(use.mean()) << "25 s of 30";
  add_every_5s(use, 45s, 50s, 0.8);
  ASSERT_TRUE(use.mean());
  EXPECT_DOUBLE_EQ(*use.mean(), 0.8) << "what came while it settled does not count";
}

TEST(SteadyUse, WaitsForGpusToComputeAtAll) {
  SteadyUse use;
  use.start(Time{0s});
  add_every_5s(use, 0s, 600s, 0);
  EXPECT_FALSE(use.mean()) << "it loads its data";
  add_every_5s(use, 600s, 670s, 0.5);
  ASSERT_TRUE(use.mean());
  EXPECT_DOUBLE_EQ(*use.mean(), 0.5);
}

TEST(SteadyUse, WeighsStretchesByTheirLength) {
  SteadyUse use = begun();
  use.add({Time{20s}, Time{50s}, 0.4});
  use.add({Time{50s}, Time{60s}, 0.8});
  ASSERT_TRUE(use.mean());
  EXPECT_DOUBLE_EQ(*use.mean(), 0.5);
}

TEST(SteadyUse, LeavesOutAStretchThatBeganTooEarly) {
  SteadyUse use = begun();
  use.change(Time{100s});
  use.add({Time{90s}, Time{150s}, 0.2});  // a job that reports once a minute
  EXPECT_FALSE(use.mean()) << "most of it was before";
  use.add({Time{150s}, Time{210s}, 0.9});
  ASSERT_TRUE(use.mean());
  EXPECT_DOUBLE_EQ(*use.mean(), 0.9);
}

TEST(SteadyUse, ForgetsWithEachChange) {
  SteadyUse use = begun();
  add_every_5s(use, 20s, 100s, 0.9);
  ASSERT_TRUE(use.mean());
  use.change(Time{100s});
  EXPECT_FALSE(use.mean());
  add_every_5s(use, 100s, 145s, 0.6);
  ASSERT_TRUE(use.mean());
  EXPECT_DOUBLE_EQ(*use.mean(), 0.6);
}

TEST(SteadyUse, IsOfTheLatest) {
  SteadyUse use = begun();
  add_every_5s(use, 20s, 1000s, 1);
  add_every_5s(use, 1000s, 1030s, 0.5);
  EXPECT_DOUBLE_EQ(use.mean().value(), 0.75) << "half of the last minute";
  add_every_5s(use, 1030s, 1060s, 0.5);
  EXPECT_DOUBLE_EQ(use.mean().value(), 0.5);
}

}  // namespace
}  // namespace almanac::perf
