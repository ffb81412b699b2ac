// SPDX-License-Identifier: Apache-2.0
#include "perf/optimistic.h"

#include <gtest/gtest.h>

namespace almanac::perf {
namespace {

std::vector<double> measured(const OptimisticProfile& profile) {
  std::vector<double> cpus;
  for (const ProfiledPoint& point : profile.points()) cpus.push_back(point.cpus);
  return cpus;
}

// Three cores are enough. 24 and 12 and 6 and 3 are alike; 1 is slower, and the last.
TEST(OptimisticProfile, HalvesAsLongAsNothingChanges) {
  const OptimisticProfile profile(24, 1, [](double cpus) { return 300 / std::min(3.0, cpus); });
  EXPECT_EQ(measured(profile), (std::vector<double>{1, 3, 6, 12, 24}));
}

// Each core counts: 8 to 7 is 14 % slower, so all are measured but those that the first halving
// from 16 passes over.
TEST(OptimisticProfile, GoesCoreByCoreWhereItCounts) {
  const OptimisticProfile one(16, 1, [](double cpus) { return 100 / cpus; });
  EXPECT_EQ(measured(one), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 16}));
  const OptimisticProfile two(16, 2, [](double cpus) { return 100 / cpus; });
  EXPECT_EQ(measured(two), (std::vector<double>{2, 4, 6, 8, 16}));
}

TEST(OptimisticProfile, FillsInBetween) {
  const OptimisticProfile profile(16, 1, [](double cpus) { return 100 / cpus; });
  EXPECT_DOUBLE_EQ(profile.epoch_s(12), 100.0 / 12);  // linear, and so is the job
  EXPECT_DOUBLE_EQ(profile.epoch_s(0.5), 200);
  EXPECT_DOUBLE_EQ(profile.epoch_s(32), 100.0 / 16);
}

TEST(OptimisticProfile, AnEpochTakesAtLeastItsFetching) {
  const OptimisticProfile profile(16, 1, [](double cpus) { return 100 / cpus; });
  EXPECT_DOUBLE_EQ(profile.epoch_s(4, 86), 86);
  EXPECT_DOUBLE_EQ(profile.epoch_s(1, 86), 100);
}

}  // namespace
}  // namespace almanac::perf
