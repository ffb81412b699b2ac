// SPDX-License-Identifier: Apache-2.0
#include "cluster/cells/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/cells/example.h"

namespace almanac::cells {
namespace {

using ::testing::HasSubstr;

std::string refusal(const Layout& layout) {
  const Result<Cluster> cluster = build(layout);
  return cluster ? "" : cluster.error().message;
}

TEST(Layout, BuildsChainsAndOwners) {
  const auto cluster =
      build(example(4, {owns("A", "NODE", 1, "RACK"), owns("B", "PAIR", 2, "RACK")}, 2));
  ASSERT_TRUE(cluster.has_value());
  const Chain& chain = cluster->chains.at(0);
  EXPECT_THAT(chain.types, ::testing::ElementsAre("", "GPU", "PAIR", "NODE", "RACK"));
  EXPECT_THAT(chain.leaves, ::testing::ElementsAre(0, 1, 2, 4, 8));
  EXPECT_EQ(chain.cells[4].size(), 2);
  EXPECT_EQ(chain.cells[4][1]->nodes, (std::vector<int>{2, 3}));
  EXPECT_EQ(cluster->vcs.at(1).roots.at(0)[2].size(), 2);
  EXPECT_EQ(cluster->find_node("n3"), 3);
  EXPECT_EQ(cluster->find_vc("C"), -1);
}

TEST(Layout, RefusesMoreThanThereIs) {
  EXPECT_EQ(refusal(example(2, {owns("A", "NODE", 1), owns("B", "PAIR", 2)})), "");
  EXPECT_THAT(refusal(example(2, {owns("A", "NODE", 1), owns("B", "PAIR", 3)})),
              HasSubstr("not enough physical cells"));
  EXPECT_THAT(refusal(example(2, {owns("A", "NODE", 3)})), HasSubstr("2 are left"));
}

TEST(Layout, RefusesWhatContradictsItself) {
  Layout layout = example(2, {});
  layout.places[1].within.pop_back();
  EXPECT_THAT(refusal(layout), HasSubstr("must have 2 within, not 1"));
  layout = example(2, {});
  layout.places[1] = example_node("n0");
  EXPECT_THAT(refusal(layout), HasSubstr("there twice"));
  layout = example(2, {});
  layout.places[0].within[0].within[0].node = "n1";
  EXPECT_THAT(refusal(layout), HasSubstr("must be of one node"));
  layout = example(2, {});
  layout.types[1].child = "NODE";
  EXPECT_THAT(refusal(layout), HasSubstr("in itself"));
  layout = example(2, {});
  layout.types[0].node = false;
  EXPECT_THAT(refusal(layout), HasSubstr("exactly one type that is a node"));
  EXPECT_THAT(refusal(example(2, {owns("A", "RACK", 1)})), HasSubstr("has no type RACK"));
  EXPECT_THAT(refusal(example(2, {{.vc = "A", .pinned = "mine"}})), HasSubstr("pinned as mine"));
}

}  // namespace
}  // namespace almanac::cells
