// SPDX-License-Identifier: Apache-2.0
#include "formulas/trial.h"

#include <gtest/gtest.h>

#include "cluster/cells/example.h"

namespace almanac::cells {
namespace {

void expect_guarantee(const Layout& layout, std::int64_t requests) {
  Result<Cluster> cluster = build(layout);
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  const Trial trial = try_out(std::move(*cluster), requests, 7);
  EXPECT_EQ(trial.fitting, requests);
  EXPECT_EQ(trial.served, trial.fitting);
  EXPECT_EQ(trial.wronged, 0);
  EXPECT_TRUE(trial.whole);
}

// Together 100,000 requests that fit what their virtual cluster owns: none is blocked.
TEST(Trial, NodesAndPartsOfNodes) {
  expect_guarantee(example(6, {owns("A", "NODE", 2), owns("B", "PAIR", 5), owns("C", "GPU", 6)}),
                   50'000);
}

TEST(Trial, RacksOfWhichEveryCellIsOwned) {
  expect_guarantee(example(12,
                           {owns("A", "RACK", 1, "RACK"), owns("A", "NODE", 2, "RACK"),
                            owns("B", "NODE", 2, "RACK"), owns("B", "PAIR", 2, "RACK"),
                            owns("C", "GPU", 4, "RACK"), owns("C", "NODE", 2, "RACK")},
                           4),
                   40'000);
}

TEST(Trial, PinnedCells) {
  Layout layout = example(
      8,
      {owns("A", "NODE", 2, "RACK"), owns("B", "PAIR", 4, "RACK"), {.vc = "B", .pinned = "mine"}},
      2);
  layout.places[1].within[0].pinned = "mine";
  expect_guarantee(layout, 10'000);
}

}  // namespace
}  // namespace almanac::cells
