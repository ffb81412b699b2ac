// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/deal_out/node_split.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::policy {
namespace {

/// Cores in thousandths, memory in MB; the proportional share is 3 cores and 60 GB.
const JobChoices& hungry() {
  static const JobChoices made{.all = {{3'000, 60'000, 1},
                                       {4'000, 60'000, 1.25},
                                       {6'000, 60'000, 1.75},
                                       {12'000, 120'000, 3}},
                               .least = 0,
                               .best = 3};
  return made;
}
const JobChoices& modest() {
  static const JobChoices made{.all = {{1'000, 20'000, 1}}, .least = 0, .best = 0};
  return made;
}

TEST(NodeSplitTest, ModestJobsLeaveCoresToHungryOnes) {
  std::vector<NodeJob> jobs{{&hungry()}, {&modest()}, {&modest()}, {&modest()}};
  // 15 cores: 12 and three times 1.
  EXPECT_EQ(split_node(jobs, {4, 15'000, 240'000}), 6);
  EXPECT_EQ(jobs[0].choice, 3U);
}

TEST(NodeSplitTest, EverybodyHasTheLeastFirst) {
  std::vector<NodeJob> jobs{{&hungry()}, {&hungry()}, {&modest()}, {&modest()}};
  // 3 + 3 + 1 + 1 of 12: 4 cores are left, 3 of which make one of the two run at 1.75.
  EXPECT_EQ(split_node(jobs, {4, 12'000, 240'000}), 1.25 + 1.75 + 2);
}

TEST(NodeSplitTest, MemoryBindsToo) {
  std::vector<NodeJob> jobs{{&hungry()}};
  EXPECT_EQ(split_node(jobs, {1, 12'000, 119'999}), 1.75);
}

TEST(NodeSplitTest, EachGpuOfAJobGetsAsMuch) {
  std::vector<NodeJob> jobs{{&hungry(), 2}};
  EXPECT_EQ(split_node(jobs, {2, 23'000, 240'000}), 1.75);
  EXPECT_EQ(jobs[0].amount(), (cluster::Amount{2, 12'000, 120'000}));
}

RC_GTEST_PROP(NodeSplitTest, TakesNoMoreThanThereIsAndNobodyLosesByMore, ()) {
  std::vector<NodeJob> jobs;
  cluster::Amount room{8, 0, 0};
  const int hungry_ones = *rc::gen::inRange(0, 5);
  const int modest_ones = *rc::gen::inRange(0, 4);
  for (int job = 0; job < hungry_ones + modest_ones; ++job) {
    jobs.push_back({job < hungry_ones ? &hungry() : &modest()});
    room += jobs.back().amount();
  }
  room.cpu_milli += 500 * *rc::gen::inRange(0, 60);
  room.memory_mb += 10'000 * *rc::gen::inRange(0, 60);
  const double sum = split_node(jobs, room);
  cluster::Amount taken{};
  for (const NodeJob& job : jobs) taken += job.amount();
  RC_ASSERT(taken.cpu_milli <= room.cpu_milli);
  RC_ASSERT(taken.memory_mb <= room.memory_mb);
  RC_ASSERT(sum >= static_cast<double>(jobs.size()));
}

}  // namespace
}  // namespace almanac::policy
