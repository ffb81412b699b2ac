// SPDX-License-Identifier: Apache-2.0
#include "steer/compactions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::steer {
namespace {

using manager::JobNumber;
using manager::State;

/// Three nodes of four GPUs. Jobs 1, 2 and 3 hold two GPUs on each, for 60, 50 and 40 s.
manager::News three_half_full_nodes() {
  manager::News made{.at = Time{100s}, .whole = true};
  const std::vector<std::string> names = {"n1", "n2", "n3"};
  for (const std::string& name : names) {
    made.nodes.push_back({.name = name, .gpus = 4, .partitions = {"all"}});
  }
  made.partitions = {{{.name = "all", .nodes = names}}};
  for (std::uint32_t number = 1; number <= 3; ++number) {
    manager::Job job{.number = JobNumber{number}, .partition = "all", .state = State::running};
    job.gpus = 2;
    job.requeueable = true;
    job.start = Time{(30 + 10 * number) * 1s};
    job.holds = {{.node = names[number - 1], .gpus = 0b11, .gpu_count = 2}};
    made.jobs.push_back(job);
  }
  manager::Job job{.number = JobNumber{9}, .partition = "all", .state = State::pending};
  job.gpus = 4;
  made.jobs.push_back(job);
  return made;
}

sim::Compactions advise(const manager::News& news) {
  Mirror mirror;
  mirror.take(news);
  const auto world = make_world(mirror, Grouping::partitions);
  const std::vector<JobNumber> queue = {JobNumber{9}};
  return compactions_of(mirror, *world, queue);
}

TEST(SlurmCompactions, MovesTheJobThatHasDoneLeast) {
  const sim::Compactions advice = advise(three_half_full_nodes());
  EXPECT_EQ(advice.free_gpus, 6);
  EXPECT_EQ(advice.running, 3);
  EXPECT_EQ(advice.staying, 0);
  ASSERT_EQ(advice.steps.size(), 1U);
  const sim::AdvisedStep& step = advice.steps[0];
  EXPECT_EQ(step.job, "9");
  EXPECT_EQ(step.gpus, 4);
  EXPECT_THAT(step.place, testing::ElementsAre(sim::GpusAt{"n3", 4}));
  ASSERT_EQ(step.moves.size(), 1U);
  EXPECT_EQ(step.moves[0].job, "3");
  EXPECT_THAT(step.moves[0].from, testing::ElementsAre(sim::GpusAt{"n3", 2}));
  EXPECT_THAT(step.moves[0].to, testing::ElementsAre(sim::GpusAt{"n1", 2}));
  EXPECT_EQ(step.lost_gpu_s, 2 * 40);
  EXPECT_TRUE(step.is_proven);
}

TEST(SlurmCompactions, LeavesJobsAloneThatMayNotMove) {
  manager::News news = three_half_full_nodes();
  news.jobs[2].requeueable = false;
  news.jobs[1].features = "fast";
  const sim::Compactions advice = advise(news);
  EXPECT_EQ(advice.staying, 2);
  ASSERT_EQ(advice.steps.size(), 1U);
  EXPECT_EQ(advice.steps[0].moves[0].job, "1");
  news.jobs[0].state = State::completing;
  EXPECT_TRUE(advise(news).steps.empty());
}

TEST(SlurmCompactions, MovesNothingToNodesThatTakeNoJob) {
  manager::News news = three_half_full_nodes();
  news.nodes[0].drained = news.nodes[1].drained = true;
  const sim::Compactions advice = advise(news);
  EXPECT_EQ(advice.free_gpus, 2);
  EXPECT_TRUE(advice.steps.empty());
}

TEST(SlurmCompactions, MakesNoRoomForWhatMayNotLieAnywhere) {
  manager::News news = three_half_full_nodes();
  news.jobs[3].nodes = 2;
  EXPECT_TRUE(advise(news).steps.empty()) << "four GPUs on two nodes";
  news.jobs[3].nodes = 1;
  EXPECT_EQ(advise(news).steps.size(), 1U);
  news.partitions = {
      {{.name = "all", .nodes = {"n1", "n2", "n3"}}, {.name = "few", .nodes = {"n1"}}}};
  news.nodes[0].partitions = {"all", "few"};
  news.jobs[3].partition = "few";
  EXPECT_TRUE(advise(news).steps.empty()) << "its partition has one node of three";
}

}  // namespace
}  // namespace almanac::steer
