// SPDX-License-Identifier: Apache-2.0
#include "sim/idle_gaps.h"

#include <gtest/gtest.h>

namespace almanac::sim {
namespace {

Time at(Duration since) { return Time{since}; }

TEST(IdleGaps, SleepsInLongGapsAndIsBackForTheNextJob) {
  const cluster::Cluster cluster = cluster::uniform(1, 4);
  IdleGaps gaps(cluster, 300s, 400s);
  gaps.begin(at(0s));
  gaps.take(NodeId{0}, at(1000s));  // 700 s asleep, 300 s booting
  gaps.take(NodeId{0}, at(1100s));  // a second job
  gaps.give_back(NodeId{0}, at(1200s));
  gaps.give_back(NodeId{0}, at(1300s));
  gaps.take(NodeId{0}, at(1700s));  // 400 s: not worth it
  gaps.give_back(NodeId{0}, at(2000s));
  const SleepBound bound = gaps.end(at(2050s));  // 50 s at the end: no job comes
  EXPECT_EQ(bound.asleep_gpu_s, 4 * (700 + 50));
  EXPECT_EQ(bound.booting_gpu_s, 4 * 300);
}

TEST(IdleGaps, LeavesOutNodesThatAreOutOfService) {
  const cluster::Cluster cluster = cluster::uniform(2, 2);
  IdleGaps gaps(cluster, 300s, 300s);
  gaps.begin(at(0s));
  gaps.take(NodeId{1}, at(0s));
  gaps.set_drained(NodeId{0}, true, at(1000s));
  gaps.set_drained(NodeId{1}, true, at(1000s));
  gaps.give_back(NodeId{1}, at(2000s));  // drained meanwhile: its end is no gap
  gaps.set_drained(NodeId{0}, false, at(5000s));
  const SleepBound bound = gaps.end(at(5100s));
  EXPECT_EQ(bound.asleep_gpu_s, 2 * (1000 + 100));
  EXPECT_EQ(bound.booting_gpu_s, 0);
}

}  // namespace
}  // namespace almanac::sim
