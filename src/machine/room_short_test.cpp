// SPDX-License-Identifier: Apache-2.0
#include "machine/room_short.h"

#include <gtest/gtest.h>

namespace almanac::machine {
namespace {

/// Node a has 4 GPUs, 8 cores and 64 GB; node b has 16 cores and no GPU.
cluster::Cluster two_nodes() {
  cluster::Cluster made;
  made.add_vc("all");
  made.add_nodes({.gpus = 4, .cpus = 8, .memory_gb = 64}, 1, {"a"});
  made.add_nodes({.gpus = 0, .cpus = 16, .memory_gb = 64}, 1, {"b"});
  return made;
}

cluster::Demand demand_of(int gpus, std::int32_t cpu_milli, std::int32_t memory_mb) {
  return {.gpus = gpus, .cpu_milli = cpu_milli, .memory_mb = memory_mb};
}

TEST(RoomShort, ShowsWhatTheJobNeedsAndTheNodeWithTheMostRoom) {
  const cluster::Cluster cluster = two_nodes();
  cluster::Ledger ledger(cluster);
  ledger.take(NodeId{0}, {.cpu_milli = 7000, .memory_mb = 1000});
  ledger.take(NodeId{1}, {.cpu_milli = 13500});
  EXPECT_EQ(room_short(cluster, ledger, VcId{0}, demand_of(0, 4000, 1000)),
            "needs 4 cores, 1 GB of memory; 2.5 cores, 64 GB of memory free on node b");
  // Two GPUs with 2 cores each: only node a has GPUs.
  EXPECT_EQ(room_short(cluster, ledger, VcId{0}, demand_of(2, 2000, 0)),
            "needs 4 cores; 1 core free on node a");
}

TEST(RoomShort, IsEmptyIfNoNodeHasTheGpusOrCountsCores) {
  const cluster::Cluster cluster = two_nodes();
  cluster::Ledger ledger(cluster);
  ledger.take(NodeId{0}, {.gpus = 3});
  EXPECT_EQ(room_short(cluster, ledger, VcId{0}, demand_of(2, 2000, 0)), "");
  const cluster::Cluster plain = cluster::uniform(1, 4);
  EXPECT_EQ(room_short(plain, cluster::Ledger(plain), VcId{0}, demand_of(0, 1000, 0)), "");
}

}  // namespace
}  // namespace almanac::machine
