// SPDX-License-Identifier: Apache-2.0
#include "study/node_failures.h"

#include <gtest/gtest.h>

namespace almanac::study {
namespace {

/// Of twenty nodes, on each of which 40 kinds of jobs ran, `of_last` fail on the last and four on
/// each of the others.
std::vector<NodeRun> twenty_nodes(int of_last) {
  std::vector<NodeRun> runs;
  for (int node = 0; node < 20; ++node) {
    for (int kind = 0; kind < 40; ++kind) {
      runs.push_back({.node = "gpu" + std::to_string(node),
                      .kind = std::to_string(kind),
                      .failed = kind < (node == 19 ? of_last : 4)});
    }
  }
  return runs;
}

TEST(NodeFailures, NamesANodeOnWhichFarMoreFails) {
  const auto records = node_records(twenty_nodes(16));
  ASSERT_EQ(records.size(), 20U);
  EXPECT_EQ(records[0].node, "gpu19");
  EXPECT_TRUE(records[0].is_suspicious());
  EXPECT_EQ(records[0].failed, 16);
  EXPECT_DOUBLE_EQ(records[0].expected, 4);
  EXPECT_TRUE(in_words(records[0]).starts_with("gpu19: 16 of 40 failed, 4.0 expected (p = "));
  EXPECT_FALSE(records[1].is_suspicious());
}

// By itself 9 of 40 at a rate of 0.1 is rare (p = 0.016), among twenty nodes it is not.
TEST(NodeFailures, TakesIntoAccountHowManyNodesThereAre) {
  EXPECT_FALSE(node_records(twenty_nodes(9))[0].is_suspicious());
}

TEST(NodeFailures, CountsAJobThatIsTriedAgainAndAgainOnce) {
  auto runs = twenty_nodes(4);
  for (int again = 0; again < 100; ++again) {
    runs.push_back({.node = "gpu19", .kind = "0", .failed = true});
  }
  EXPECT_FALSE(node_records(runs)[0].is_suspicious());
}

TEST(NodeFailures, HasNothingToHoldOneNodeAgainst) {
  std::vector<NodeRun> runs;
  for (int kind = 0; kind < 40; ++kind) {
    runs.push_back({.node = "box", .kind = std::to_string(kind), .failed = true});
  }
  EXPECT_FALSE(node_records(runs)[0].is_suspicious());
}

TEST(NodeFailures, NamesTheOnlyNodeOnWhichAnythingFails) {
  const auto runs = [] {
    auto made = twenty_nodes(20);
    for (NodeRun& run : made) run.failed = run.failed && run.node == "gpu19";
    return made;
  }();
  EXPECT_TRUE(node_records(runs)[0].is_suspicious());
}

}  // namespace
}  // namespace almanac::study
