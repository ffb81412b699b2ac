// SPDX-License-Identifier: Apache-2.0
#include "capacity/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::capacity {
namespace {

using testing::ElementsAre;

/// Partition a: 4 nodes of 8 V100 in two racks, 2 of 4 A100; partition b: 2 nodes of 8 V100.
cluster::Cluster two_partitions() {
  cluster::Cluster made;
  made.add_vc("a");
  made.add_nodes({.gpus = 8, .gpu_type = "V100"}, 2, {"n1", "n2"}, "core/r1");
  made.add_nodes({.gpus = 8, .gpu_type = "V100"}, 2, {"n3", "n4"}, "core/r2");
  made.add_nodes({.gpus = 4, .gpu_type = "A100"}, 2);
  made.add_vc("b");
  made.add_nodes({.gpus = 8, .gpu_type = "V100"}, 2);
  made.vcs[1].priority_tier = 7;
  made.switches = {{.path = "core/r1", .uplink_gbps = 100}};
  made.changes = {{.at = Time{1h}, .vc = VcId{0}, .nodes = 3}};
  made.tenants = {{.name = "vision", .guarantee = 8}};
  return made;
}

std::vector<int> sizes(const cluster::Cluster& cluster) {
  std::vector<int> made;
  for (const Group& group : groups_of(cluster)) made.push_back(group.nodes);
  return made;
}

TEST(Resize, ChangesOnlyNumbersOfNodes) {
  const cluster::Cluster before = two_partitions();
  EXPECT_THAT(sizes(before), ElementsAre(4, 2, 2));
  const cluster::Cluster after = resized(before, std::vector<int>{6, 1, 4});
  EXPECT_THAT(sizes(after), ElementsAre(6, 1, 4));
  EXPECT_EQ(after.gpus(), 6 * 8 + 4 + 4 * 8);
  EXPECT_EQ(after.gpus(VcId{1}), 32);
  EXPECT_EQ(after.vcs[1].first, NodeId{7});
  EXPECT_EQ(after.vcs[1].priority_tier, 7);
  EXPECT_EQ(after.tenants, before.tenants);
  EXPECT_EQ(after.classes, before.classes);
  for (std::size_t node = 0; node < after.nodes.size(); ++node) {
    EXPECT_EQ(after.nodes[node].vc, VcId{node < 7 ? 0U : 1U});
  }
  EXPECT_EQ(after.changes[0].nodes, 4) << "3 of 6 nodes are 3.5 of 7";
}

TEST(Resize, AddsNodesInNewRacksAndTakesThemFromAllRacks) {
  const cluster::Cluster larger = resized(two_partitions(), std::vector<int>{7, 2, 2});
  std::vector<std::string> names;
  std::vector<std::string> racks;
  for (const cluster::Node& node : larger.nodes) {
    if (node.rack.empty()) continue;
    names.push_back(node.name);
    racks.push_back(node.rack);
  }
  EXPECT_THAT(names, ElementsAre("n1", "n2", "n3", "n4", "n1+1", "n2+1", "n3+1"));
  EXPECT_THAT(racks, ElementsAre("core/r1", "core/r1", "core/r2", "core/r2", "core/r1+1",
                                 "core/r1+1", "core/r2+1"));
  ASSERT_EQ(larger.switches.size(), 2U);
  EXPECT_EQ(larger.switches[1], (cluster::Switch{.path = "core/r1+1", .uplink_gbps = 100}));

  const cluster::Cluster smaller = resized(two_partitions(), std::vector<int>{2, 2, 2});
  EXPECT_EQ(smaller.nodes[0].rack, "core/r1");
  EXPECT_EQ(smaller.nodes[1].rack, "core/r2");
}

TEST(Resize, SplitsInProportionAndNeverShrinksAGroupAsTheTotalGrows) {
  const std::vector<Group> groups = groups_of(two_partitions());
  const std::vector<int> least = {1, 1, 2};
  EXPECT_THAT(split(groups, least, 8), ElementsAre(4, 2, 2)) << "today's sizes";
  EXPECT_THAT(split(groups, least, 16), ElementsAre(8, 4, 4));
  EXPECT_THAT(split(groups, least, 4), ElementsAre(1, 1, 2));
  EXPECT_THAT(split(groups, least, 0), ElementsAre(1, 1, 2)) << "the least may be more";
  std::vector<int> before = split(groups, least, 4);
  for (int total = 5; total < 60; ++total) {
    const std::vector<int> now = split(groups, least, total);
    int sum = 0;
    for (std::size_t at = 0; at < now.size(); ++at) {
      EXPECT_GE(now[at], before[at]) << total;
      sum += now[at];
    }
    EXPECT_EQ(sum, total);
    before = now;
  }
}

}  // namespace
}  // namespace almanac::capacity
