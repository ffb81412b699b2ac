// SPDX-License-Identifier: Apache-2.0
#include "sim/fill.h"

#include <gtest/gtest.h>

#include "policy/registry.h"

namespace almanac::sim {
namespace {

cluster::Cluster nodes_of_one_and_two_gpus() {
  cluster::Cluster made;
  made.add_vc("all");
  made.add_nodes({.gpus = 2}, 1);
  made.add_nodes({.gpus = 1}, 2);
  return made;
}

Filled fill_with(const char* placement, const std::vector<cluster::Demand>& arrivals) {
  const fragment::Mix mix;
  return fill(nodes_of_one_and_two_gpus(), *policy::registry().placements.make(placement, {}),
              arrivals, mix, Rng(1));
}

TEST(Fill, DropsWhatNoNodeHasRoomFor) {
  const cluster::Demand half{.gpus = 1, .gpu_milli = 500};
  for (const char* placement : {"fgd", "least_left", "consolidate"}) {
    const Filled filled = fill_with(placement, {{.gpus = 2}, {.gpus = 2}, half, half, {.gpus = 1}});
    ASSERT_EQ(filled.places.size(), 5U);
    EXPECT_EQ(index(filled.places[0]->node), 0U) << placement;
    // Two nodes of one GPU each are free, but no job lies on both.
    EXPECT_FALSE(filled.places[1]) << placement;
    // Both halves share a GPU, so one is left.
    EXPECT_EQ(filled.places[2]->node, filled.places[3]->node) << placement;
    EXPECT_TRUE(filled.places[4]) << placement;
    // Two of four GPUs are asked and given, then four asked, then five.
    EXPECT_EQ(filled.curve.allocated[50], 50) << placement;
    EXPECT_EQ(filled.curve.allocated[100], 50) << placement;
    EXPECT_EQ(filled.curve.allocated[125], 75) << placement;
  }
}

TEST(Fill, DrawsEachJobOnceAndThenAgain) {
  std::vector<cluster::Demand> jobs;
  for (int gpus = 1; gpus <= 2; ++gpus) jobs.push_back({.gpus = gpus});
  const auto drawn = draw_arrivals(jobs, nodes_of_one_and_two_gpus(), 2, Rng(1));
  int sum = 0;
  for (const cluster::Demand& demand : drawn) sum += demand.gpus;
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_GE(sum, 8);
  EXPECT_LE(sum - drawn.back().gpus, 8);
  EXPECT_TRUE(draw_arrivals(std::vector<cluster::Demand>{{.tasks = 1}}, nodes_of_one_and_two_gpus(),
                            2, Rng(1))
                  .empty());
}

}  // namespace
}  // namespace almanac::sim
