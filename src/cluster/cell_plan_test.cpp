// SPDX-License-Identifier: Apache-2.0
#include "cluster/cell_plan.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/read.h"
#include "cluster/read_toml.h"

namespace almanac::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two racks of two nodes of V100, a rack of one, and two A100 nodes of two sockets behind no
/// switch.
const std::string kNodes = R"([[vc]]
name = "all"
[[vc.group]]
nodes = 2
gpus = 4
gpu_type = "V100"
rack = "r1"
[[vc.group]]
nodes = 2
gpus = 4
gpu_type = "V100"
rack = "r2"
[[vc.group]]
nodes = 1
gpus = 4
gpu_type = "V100"
rack = "r3"
[[vc.group]]
nodes = 2
gpus = 8
gpu_type = "A100"
sockets = 2
names = ["a1", "a2"]
)";

std::string said(const Result<Cluster>& read) {
  return read ? std::string("accepted") : to_string(read.error());
}

std::string refusal(const std::string& tenants) {
  return said(parse_toml(kNodes + tenants, "c.toml"));
}

std::string cell(const std::string& says) { return "[[tenant.cell]]\n" + says + "\n"; }

TEST(CellPlan, MakesChainsOfNodesThatAreAlike) {
  const auto cluster = parse_toml(kNodes, "c.toml");
  ASSERT_TRUE(cluster) << said(cluster);
  const CellPlan plan(*cluster, VcId{0});
  ASSERT_EQ(plan.chains().size(), 3U);
  const auto sizes = [&](std::size_t chain) {
    std::vector<int> made;
    for (const CellLevel& each : plan.chains()[chain].levels) made.push_back(each.gpus);
    return made;
  };
  EXPECT_THAT(sizes(0), ElementsAre(8, 4, 2, 1)) << "racks of two nodes";
  EXPECT_THAT(sizes(1), ElementsAre(4, 2, 1)) << "a node alone in its rack";
  EXPECT_THAT(sizes(2), ElementsAre(8, 4, 2, 1)) << "nodes of two sockets";
  EXPECT_TRUE(cells::build(plan.layout()));
}

TEST(CellPlan, GivesATenantTheGuaranteeThatItsCellsAre) {
  const auto cluster = parse_toml(
      kNodes + "[[tenant]]\nname = \"red\"\n" + cell("kind = \"rack\"") +
          cell("kind = \"socket\"\ncells = 3") + cell("kind = \"node\"\npinned = \"4\"") +
          "[[tenant]]\nname = \"dev\"\nparent = \"red\"\npriority = 2\n",
      "c.toml");
  ASSERT_TRUE(cluster) << said(cluster);
  EXPECT_EQ(cluster->tenants[0].guarantee, 8 + 3 * 4 + 4);
  EXPECT_EQ(cluster->tenants[1].priority, 2);
  const auto again = parse_toml(to_toml(*cluster), "again.toml");
  ASSERT_TRUE(again) << said(again);
  EXPECT_EQ(again->tenants, cluster->tenants);
}

TEST(CellPlan, RefusesCellsThatAreNotThere) {
  const std::string red = "[[tenant]]\nname = \"red\"\n";
  EXPECT_EQ(refusal(red + cell("kind = \"shelf\"")),
            "c.toml:26:1: a cell needs a kind: rack, node, socket or gpu, not \"shelf\"");
  EXPECT_EQ(refusal(red + cell("kind = \"rack\"\ncells = 3")),
            "c.toml:26:1: tenant red: 3 more of kind rack are not left on identical nodes (own "
            "fewer, or cells of several kinds)");
  EXPECT_THAT(refusal(red + cell("kind = \"rack\"\ngpu_type = \"A100\"")),
              HasSubstr("tenant red: no nodes have cells of kind rack of A100"));
  EXPECT_THAT(refusal(red + cell("kind = \"node\"\npinned = \"a3\"")),
              HasSubstr("tenant red: no node is named \"a3\""));
  const std::string twice = cell("kind = \"node\"\npinned = \"a1\"");
  EXPECT_EQ(refusal(red + twice + twice), "c.toml:29:1: tenant red: node a1 is pinned twice");
  EXPECT_EQ(refusal(red + cell("kind = \"node\"\npinned = \"a1\"\ncells = 2")),
            "c.toml:26:1: a pinned cell is one node or one rack: leave out cells");
  EXPECT_EQ(
      refusal(red + cell("kind = \"rack\"\ncells = 2") + cell("kind = \"node\"\npinned = \"0\"")),
      "c.toml:29:1: tenant red: node 0 is already taken by other owned cells");
  EXPECT_EQ(refusal("[[tenant]]\nname = \"red\"\nguarantee = 3\n" + cell("kind = \"node\"")),
            "c.toml:26:13: tenant red has a guarantee of 3 GPUs and cells of 4: leave out the "
            "guarantee, or make both equal");
}

}  // namespace
}  // namespace almanac::cluster
