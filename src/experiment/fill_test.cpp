// SPDX-License-Identifier: Apache-2.0
#include "experiment/fill.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "experiment/fill_bound.h"
#include "policy/registry.h"

namespace almanac::experiment {
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

TEST(Fill, FragmentsOfABoardAreSlicesThatNoInstanceAskedFits) {
  cluster::Cluster machines;
  machines.add_vc("all");
  machines.add_nodes({.gpus = 1,
                      .sharing = cluster::Sharing::mig,
                      .board = slices::find_board("A100-80GB"),
                      .gpu_memory_gb = 80},
                     1);
  const cluster::Demand one{.gpus = 1, .gpu_milli = 125, .profile = *slices::profile_id("1g.10gb")};
  const std::vector<cluster::Demand> arrivals(8, one);
  for (const char* placement : {"fgd", "consolidate"}) {
    const Filled filled = fill(machines, *policy::registry().placements.make(placement, {}),
                               arrivals, fragment::Mix(), Rng(1));
    EXPECT_TRUE(filled.places[6]) << placement;
    EXPECT_FALSE(filled.places[7]) << placement << ": slice 7 is no place for a 1g";
    EXPECT_EQ(filled.curve.allocated[100], 87.5) << placement;
    EXPECT_EQ(filled.curve.fragments[50], 0) << placement;
    EXPECT_EQ(filled.curve.fragments[100], 12.5) << placement;
    EXPECT_EQ(filled.curve.of_the_idle[100], 100) << placement;
  }
}

// Two GPUs fit the node of two; three of them lie on no node, and neither do two of the type that
// has one.
TEST(Fill, LeavesOutJobsThatAreWiderThanANode) {
  cluster::Cluster machines;
  machines.takes_every_job = true;
  machines.add_vc("all");
  machines.add_nodes({.gpus = 2, .gpu_type = "A100"}, 2);
  machines.add_nodes({.gpus = 1, .gpu_type = "V100"}, 2);
  trace::Trace trace;
  for (const int gpus : {1, 2, 3, 0}) trace.jobs.emplace_back().request.gpus = gpus;
  trace::Job& typed = trace.jobs.emplace_back();
  typed.request.gpus = 2;
  typed.request.gpu_type = trace.names.intern("V100");
  const Demands demands = demands_of(trace, machines);
  EXPECT_EQ(demands.left_out, 2U);
  ASSERT_EQ(demands.jobs.size(), 3U);
  EXPECT_EQ(demands.jobs[1].gpus, 2);
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

TEST(FillBound, KnowsWhatCannotLieTogether) {
  cluster::Cluster machines;
  machines.add_vc("all");
  machines.add_nodes({.gpus = 2, .cpus = 8}, 2);
  using Demands = std::vector<cluster::Demand>;
  const cluster::Demand large{.gpus = 1, .gpu_milli = 600};
  // No two of them on a GPU, though 2.4 GPUs of 4 are asked by four and 3 by five.
  EXPECT_NEAR(most_given(machines, Demands(5, large), 1), 0.6, 1e-9);
  // The free parts next to them fit jobs of 0.4.
  Demands both(4, large);
  both.insert(both.end(), 4, {.gpus = 1, .gpu_milli = 400});
  EXPECT_NEAR(most_given(machines, both, 1), 1, 1e-9);
  // 6 of the 8 cores of a node are taken by one such job.
  EXPECT_NEAR(most_given(machines, Demands(4, {.gpus = 1, .cpu_milli = 6000}), 1), 2.0 / 3, 1e-9);
  // Jobs of 2 GPUs do not lie on two nodes: with one GPU each there is no room for any.
  EXPECT_NEAR(most_given(nodes_of_one_and_two_gpus(), Demands(2, {.gpus = 2}), 1), 0.5, 1e-9);
}

RC_GTEST_PROP(FillBoundProperty, NoPlacementGivesMore, ()) {
  cluster::Cluster machines;
  machines.add_vc("all");
  for (int kind = 0; kind < 2; ++kind) {
    machines.add_nodes({.gpus = *rc::gen::inRange(1, 5), .cpus = double(*rc::gen::inRange(2, 9))},
                       static_cast<std::uint32_t>(*rc::gen::inRange(1, 4)));
  }
  std::vector<cluster::Demand> arrivals;
  for (int job = *rc::gen::inRange(1, 20); job > 0; --job) {
    const int gpus = *rc::gen::inRange(1, 4);
    arrivals.push_back(
        {.gpus = gpus,
         .cpu_milli = 500 * *rc::gen::inRange(0, 6),
         .gpu_milli = gpus > 1 ? cluster::kWholeGpu : 100 * *rc::gen::inRange(1, 11)});
  }
  const char* const placement = *rc::gen::element("fgd", "balanced", "least_left", "consolidate");
  const fragment::Mix mix;
  const Filled filled =
      fill(machines, *policy::registry().placements.make(placement, {}), arrivals, mix, Rng(1));
  double given = 0;
  for (const auto& place : filled.places) {
    if (place) given += place->count() * place->gpu_milli / double{cluster::kWholeGpu};
  }
  RC_ASSERT(given / machines.gpus() <= most_given(machines, arrivals, 1e9) + 1e-9);
}

}  // namespace
}  // namespace almanac::experiment
