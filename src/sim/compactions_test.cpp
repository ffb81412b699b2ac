// SPDX-License-Identifier: Apache-2.0
#include "sim/compactions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::sim {
namespace {

/// Two nodes of four GPUs; A holds two of the first, B two of the second, C asks four.
struct HalfFull {
  HalfFull() {
    cluster.add_vc("all");
    cluster.add_nodes({.gpus = 4}, 2, {"left", "right"});
    cluster.takes_every_job = true;
    for (const int gpus : {2, 2, 4}) {
      trace::Job job{.id = trace::JobKey{trace.jobs.size() + 1}, .request = {}, .outcome = {}};
      job.request.gpus = gpus;
      trace.jobs.push_back(job);
    }
    for (std::uint32_t job = 0; job < 2; ++job) {
      present.running.push_back({.job = JobId{job},
                                 .worked = (20 - job) * 1s,
                                 .held = {{.node = NodeId{job}, .gpus = 0b11}}});
    }
    present.waiting.push_back({.job = JobId{2}});
  }
  Compactions advise() const {
    return advise_moves(trace, cluster, present,
                        [](const Present::Job& job) { return job.worked; });
  }

  cluster::Cluster cluster;
  trace::Trace trace;
  Present present{.at = Time{50s}, .running = {}, .waiting = {}, .drained = {}};
};

TEST(Compactions, NamesTheJobThatLosesLeast) {
  const Compactions advice = HalfFull().advise();
  EXPECT_EQ(advice.free_gpus, 4);
  EXPECT_EQ(advice.running, 2);
  EXPECT_EQ(advice.waiting, 1);
  ASSERT_EQ(advice.steps.size(), 1U);
  EXPECT_EQ(advice.steps[0].job, "3");
  EXPECT_THAT(advice.steps[0].place, testing::ElementsAre(GpusAt{"right", 4}));
  ASSERT_EQ(advice.steps[0].moves.size(), 1U);
  EXPECT_EQ(advice.steps[0].moves[0], (AdvisedMove{"2", {{"right", 2}}, {{"left", 2}}, 2 * 19}));
  EXPECT_EQ(advice.steps[0].lost_gpu_s, 2 * 19);
}

TEST(Compactions, LeavesAJobWhereItIsThatHoldsAnotherPartThanItAsks) {
  HalfFull site;
  site.present.running[1].held[0].gpu_milli = 500;
  const Compactions advice = site.advise();
  EXPECT_EQ(advice.staying, 1);
  EXPECT_EQ(advice.free_gpus, 5);
  ASSERT_EQ(advice.steps.size(), 1U);
  EXPECT_THAT(advice.steps[0].place, testing::ElementsAre(GpusAt{"left", 4}));
}

TEST(Compactions, SaysThatPartsWithMemoryAreLeftAlone) {
  HalfFull site;
  trace::Request& asked = site.trace.jobs[1].request;
  asked.gpus = 1;
  asked.gpu_share = 0.5;
  asked.gpu_memory_gb = 8;
  site.present.running[1].held = {
      {.node = NodeId{1}, .gpu_milli = 500, .gpus = 0b1, .gpu_memory_mb = 8000}};
  const Compactions advice = site.advise();
  EXPECT_EQ(advice.left_alone, 1);
  EXPECT_EQ(advice.staying, 1);
  ASSERT_EQ(advice.steps.size(), 1U);
  EXPECT_EQ(advice.steps[0].moves[0].job, "1");
}

TEST(Compactions, MovesNothingToADrainedNodeOrFromIt) {
  HalfFull site;
  site.present.drained = {NodeId{0}};
  const Compactions advice = site.advise();
  EXPECT_EQ(advice.free_gpus, 2);
  EXPECT_TRUE(advice.steps.empty());
}

TEST(Compactions, SaysWhichJobsFitAsThingsAre) {
  HalfFull site;
  site.trace.jobs[2].request.gpus = 2;
  const Compactions advice = site.advise();
  EXPECT_TRUE(advice.steps.empty());
  EXPECT_THAT(advice.fit, testing::ElementsAre("3"));
}

}  // namespace
}  // namespace almanac::sim
