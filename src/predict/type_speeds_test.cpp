// SPDX-License-Identifier: Apache-2.0
#include "predict/type_speeds.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::predict {
namespace {

using From = TypeSpeeds::From;
constexpr TypeSpeeds::Alike kBert{NameId{1}, NameId{2}, 1};
constexpr TypeSpeeds::Alike kResnet{NameId{1}, NameId{3}, 1};

void learn_both(TypeSpeeds& speeds, const TypeSpeeds::Alike& jobs, double v100_s, double k80_s) {
  for (const double spread : {0.5, 2.0}) {
    speeds.learn(jobs, "V100", v100_s * spread);
    speeds.learn(jobs, "K80", k80_s * spread);
  }
}

TEST(TypeSpeeds, KnowsNothingUntilAJobRanOnBoth) {
  TypeSpeeds speeds;
  for (int run = 0; run < 9; ++run) speeds.learn(kBert, "V100", 100);
  const auto told = speeds.speed(kBert, "K80", "V100");
  EXPECT_EQ(told.from, From::nothing);
  EXPECT_EQ(told.speed, 1);
  speeds.learn(kBert, "K80", 400);
  EXPECT_EQ(speeds.speed(kBert, "K80", "V100").from, From::nothing) << "one run proves nothing";
  speeds.learn(kBert, "K80", 400);
  EXPECT_EQ(speeds.speed(kBert, "K80", "V100").from, From::alike);
  EXPECT_EQ(speeds.num_compared(), 1U);
}

// Runs of 50 and 200 s count as 100 s: times are spread evenly over their logarithms.
TEST(TypeSpeeds, ComparesGeometricMeansOfJobsAlike) {
  TypeSpeeds speeds;
  learn_both(speeds, kBert, 100, 400);
  EXPECT_NEAR(speeds.speed(kBert, "K80", "V100").speed, 0.25, 1e-12);
  EXPECT_NEAR(speeds.speed(kBert, "V100", "K80").speed, 4, 1e-12);
  EXPECT_EQ(speeds.speed(kBert, "V100", "V100").speed, 1);
}

// Four and nine times as fast: a job of which nothing is known is taken to be six times as fast.
TEST(TypeSpeeds, TakesTheMeanOfOthersForAJobThatRanOnOneTypeOnly) {
  TypeSpeeds speeds;
  learn_both(speeds, kBert, 100, 400);
  learn_both(speeds, kResnet, 10, 90);
  const auto told = speeds.speed({NameId{7}, NameId{8}, 4}, "V100", "K80");
  EXPECT_EQ(told.from, From::all_jobs);
  EXPECT_NEAR(told.speed, 6, 1e-12);
  EXPECT_NEAR(speeds.speed(kResnet, "V100", "K80").speed, 9, 1e-12);
  EXPECT_EQ(speeds.speed(kBert, "P100", "V100").from, From::nothing) << "nobody ran there";
}

TEST(TypeSpeeds, DoesNotTakeJobsOfOtherUsersOrSizesForTheSame) {
  TypeSpeeds speeds;
  const TypeSpeeds::Alike other_user{NameId{9}, kBert.name, 1};
  const TypeSpeeds::Alike larger{kBert.user, kBert.name, 8};
  for (int run = 0; run < 2; ++run) {
    speeds.learn(kBert, "V100", 100);
    speeds.learn(other_user, "K80", 400);
    speeds.learn(larger, "K80", 400);
  }
  EXPECT_EQ(speeds.speed(kBert, "K80", "V100").from, From::nothing);
}

// Lessons that come later replace what a kind said before, they do not add to it.
TEST(TypeSpeeds, CountsEachKindOnceInTheMean) {
  TypeSpeeds speeds;
  for (int times = 0; times < 10; ++times) learn_both(speeds, kBert, 100, 400);
  learn_both(speeds, kResnet, 10, 90);
  EXPECT_NEAR(speeds.speed({NameId{7}, NameId{8}, 4}, "V100", "K80").speed, 6, 1e-9);
}

}  // namespace
}  // namespace almanac::predict
