// SPDX-License-Identifier: Apache-2.0
#include "capacity/resize_site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/resize.h"
#include "site/cluster.h"

namespace almanac::capacity {
namespace {

using testing::ElementsAre;

/// g1 and g2 with 4 GPUs each; both are in `all`, g2 is in `some` and reserved.
site::Site two_nodes() {
  site::Site site;
  site.tres = site::standard_tres();
  for (const char* const name : {"g1", "g2"}) {
    site::Node node{.name = name, .cpus = 16};
    node.effective_cpus = 16;
    node.gres.push_back({.name = "gpu", .count = 4});
    site.nodes.push_back(node);
  }
  site.partitions.resize(2);
  site.partitions[0].name = "all";
  site.partitions[0].nodes = {0, 1};
  site.partitions[1].name = "some";
  site.partitions[1].nodes = {1};
  site.reservations.push_back({.name = "maint", .nodes = {1}});
  site.node_events = {{.node = 0, .state = "DOWN"}, {.node = 1, .state = "DRAIN"}};
  return site;
}

site::Site with(int nodes) {
  const site::Site site = two_nodes();
  const auto cluster = site::cluster_of(site, "site");
  EXPECT_TRUE(cluster) << to_string(cluster.error());
  return resized(site, resized(*cluster, std::vector<int>{nodes}));
}

TEST(ResizeSite, PutsCopiesIntoThePartitionsOfTheirOriginals) {
  const site::Site site = with(4);
  ASSERT_EQ(site.nodes.size(), 4U);
  EXPECT_EQ(site.nodes[2].name, "g1+1");
  EXPECT_EQ(site.nodes[3].name, "g2+1");
  EXPECT_THAT(site.partitions[0].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(site.partitions[1].nodes, ElementsAre(1, 3));
  EXPECT_THAT(site.reservations[0].nodes, ElementsAre(1)) << "of no copy";
  EXPECT_EQ(site.node_events.size(), 2U);
}

TEST(ResizeSite, DropsWhatWasKnownOfNodesThatAreGone) {
  const site::Site site = with(1);
  ASSERT_EQ(site.nodes.size(), 1U);
  const bool is_second = site.nodes[0].name == "g2";
  EXPECT_THAT(site.partitions[0].nodes, ElementsAre(0));
  EXPECT_EQ(site.partitions[1].nodes.size(), is_second ? 1U : 0U);
  ASSERT_EQ(site.node_events.size(), 1U);
  EXPECT_EQ(site.node_events[0].node, 0U);
  EXPECT_EQ(site.node_events[0].state, is_second ? "DRAIN" : "DOWN");
}

TEST(ResizeSite, IsTheSameSiteWithAsManyNodes) { EXPECT_EQ(with(2), two_nodes()); }

}  // namespace
}  // namespace almanac::capacity
