// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "rules/interleave/groups.h"
#include "rules/interleave/matching.h"

namespace almanac::interleave {
namespace {

TEST(Period, OfOneJobIsItsStages) {
  const std::array job{Stages{1, 2, 3}};
  EXPECT_DOUBLE_EQ(period(job).best, 6);
  EXPECT_DOUBLE_EQ(period(job).worst, 6);
}

TEST(Period, OfStagesThatFitIsTheLongerJob) {
  const std::array jobs{Stages{3, 1, 0}, Stages{1, 3, 0}};
  EXPECT_DOUBLE_EQ(period(jobs).best, 4);
}

/// The heaviest matching of the vertices that `used` leaves, by trying all.
std::int64_t heaviest(const Weights& weight, unsigned used) {
  std::size_t a = 0;
  while (a < weight.size() && (used >> a & 1U) != 0) ++a;
  if (a == weight.size()) return 0;
  std::int64_t most = heaviest(weight, used | 1U << a);
  for (std::size_t b = a + 1; b < weight.size(); ++b) {
    if ((used >> b & 1U) != 0) continue;
    most = std::max(most, weight[a][b] + heaviest(weight, used | 1U << a | 1U << b));
  }
  return most;
}

TEST(Matching, IsTheHeaviest) {
  Rng rng(1);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t n = 1 + rng.below(8);
    const std::uint64_t largest = 1 + rng.below(12);
    Weights weight(n, std::vector<std::int64_t>(n, 0));
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        if (rng.below(3) == 0) continue;
        weight[a][b] = weight[b][a] = static_cast<std::int64_t>(rng.below(largest));
      }
    }
    const std::vector<int> mates = heaviest_matching(weight);
    std::int64_t sum = 0;
    for (std::size_t a = 0; a < n; ++a) {
      if (mates[a] < 0) continue;
      const auto mate = static_cast<std::size_t>(mates[a]);
      ASSERT_EQ(mates[mate], static_cast<int>(a)) << "round " << round;
      if (mate > a) sum += weight[a][mate];
    }
    ASSERT_EQ(sum, heaviest(weight, 0)) << "round " << round;
  }
}

TEST(Groups, FormOnlyUntilAllFit) {
  const Candidate loads{8, {3, 1, 0}, 4};
  const Candidate computes{8, {1, 3, 0}, 4};
  const std::array jobs{loads, computes, computes, loads};
  EXPECT_THAT(group(jobs, 32), testing::SizeIs(4));
  const std::vector<Group> pairs = group(jobs, 16);
  ASSERT_THAT(pairs, testing::SizeIs(2));
  for (const Group& pair : pairs) {
    ASSERT_THAT(pair, testing::SizeIs(2));
    EXPECT_NE(jobs[pair[0]].stages.load, jobs[pair[1]].stages.load);
  }
  EXPECT_THAT(group(jobs, 24), testing::SizeIs(3));
}

TEST(Groups, AreOnlyOfJobsThatMayShare) {
  const std::array gpus_of{1, 1, 1, 1};
  const auto neighbours = [](const Group& group) {
    return group.size() == 2 && group[0] + 1 == group[1] ? 1.0 : 0.0;
  };
  EXPECT_THAT(group(gpus_of, 2, neighbours), testing::ElementsAre(Group{0, 1}, Group{2, 3}));
  EXPECT_THAT(group(gpus_of, 1, neighbours), testing::SizeIs(2)) << "no group of four has a weight";
}

TEST(Groups, AreMatchedInPartsWhereThereAreMany) {
  const std::vector<int> gpus_of(600, 1);
  const auto weight = [](const Group& group) { return 1.0 / static_cast<double>(group.size()); };
  std::vector<std::size_t> jobs;
  for (const Group& each : group(gpus_of, 300, weight, 64)) {
    EXPECT_LE(each.size(), 2u);
    jobs.insert(jobs.end(), each.begin(), each.end());
  }
  std::sort(jobs.begin(), jobs.end());
  for (std::size_t at = 0; at < gpus_of.size(); ++at) ASSERT_EQ(jobs.at(at), at);
}

}  // namespace
}  // namespace almanac::interleave
