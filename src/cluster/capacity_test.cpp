// SPDX-License-Identifier: Apache-2.0
#include "cluster/capacity.h"

#include <gtest/gtest.h>

namespace almanac::cluster {
namespace {

TEST(Capacity, IsWhatWasThereTogether) {
  Cluster cluster;
  cluster.add_vc("a");
  cluster.add_nodes({.gpus = 8}, 10);
  cluster.add_vc("b");
  cluster.add_nodes({.gpus = 4}, 6);
  EXPECT_EQ(most_at_once(cluster).nodes, 16);
  EXPECT_EQ(most_at_once(cluster).gpus, 104);
  // b grows to its 6 nodes on the day on which a shrinks from its 10.
  cluster.changes = {{Time::min(), VcId{0}, 10},
                     {Time::min(), VcId{1}, 2},
                     {Time{24h}, VcId{1}, 6},
                     {Time{24h}, VcId{0}, 3}};
  EXPECT_EQ(most_at_once(cluster).nodes, 12);
  EXPECT_EQ(most_at_once(cluster).gpus, 88);
  // Until the first change there is all.
  cluster.changes.erase(cluster.changes.begin(), cluster.changes.begin() + 2);
  EXPECT_EQ(most_at_once(cluster).nodes, 16);
}

}  // namespace
}  // namespace almanac::cluster
