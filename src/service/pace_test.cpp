// SPDX-License-Identifier: Apache-2.0
#include "service/pace.h"

#include <vector>

#include <gtest/gtest.h>

#include "energy/power_file.h"
#include "perf/catalogue_file.h"

namespace almanac::service {
namespace {

using store::JobNumber;

class PaceTest : public testing::Test {
 protected:
  static cluster::Cluster one_node() {
    cluster::Cluster made;
    made.add_vc("all");
    made.add_nodes({.gpus = 4, .cpus = 16, .memory_gb = 1024}, 1);
    return made;
  }
  /// On one GPU of a node, with so many cores.
  static store::Job job(std::int64_t number, const std::string& name, double cpus) {
    store::Job made;
    made.number = JobNumber{number};
    made.state = trace::JobState::running;
    made.asked.change().name = name;
    made.asked.change().gpus = 1;
    made.asked.change().cpus = 8;
    made.held_gpus = {{.node = NodeId{0},
                       .gpus = cluster::GpuMask{1},
                       .cpu_milli = cluster::cpu_milli(cpus),
                       .memory_mb = cluster::memory_mb(500)}};
    return made;
  }
  std::optional<Pace> of_first(const std::vector<store::Job>& running) const {
    return pace_of(running.front().number, running, {.cluster = cluster_, .speeds = speeds_});
  }

  cluster::Cluster cluster_ = one_node();
  perf::Catalogue speeds_ = *perf::read_catalogue("public");
};

TEST_F(PaceTest, IsSlowWithFewerCoresThanItAsked) {
  const auto all = of_first({job(1, "train-alexnet-v2", 8)});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->model, "alexnet");
  EXPECT_DOUBLE_EQ(all->rate, 1);
  const auto few = of_first({job(1, "train-alexnet-v2", 2)});
  ASSERT_TRUE(few);
  EXPECT_LT(few->parts.cpus, 0.9);
  EXPECT_DOUBLE_EQ(few->rate, few->parts.rate());
  EXPECT_DOUBLE_EQ(few->rate, few->parts.cpus);
  EXPECT_LT(few->parts.computing, all->parts.computing);
}

TEST_F(PaceTest, IsNotSaidOfANameThatNoModelHas) {
  EXPECT_FALSE(of_first({job(1, "simulate-weather", 8)}));
  store::Job named = job(1, "simulate-weather", 8);
  named.asked.change().model = "alexnet";
  EXPECT_TRUE(of_first({named}));
}

TEST_F(PaceTest, IsNotSaidWithoutGpusOrCores) {
  store::Job none = job(1, "alexnet", 8);
  none.asked.change().gpus = 0;
  EXPECT_FALSE(of_first({none}));
  EXPECT_FALSE(of_first({job(1, "alexnet", 0)}));
}

TEST_F(PaceTest, IsSlowBesideOthersOnItsGpu) {
  std::vector<store::Job> two{job(1, "alexnet", 8), job(2, "anything", 8)};
  for (store::Job& each : two) each.held_gpus.front().gpu_milli = 500;
  EXPECT_TRUE(share_a_gpu(two[0], two[1]));
  const auto shared = of_first(two);
  ASSERT_TRUE(shared);
  EXPECT_LT(shared->parts.neighbours, 0.95);
  two[1].held_gpus.front().gpus = cluster::GpuMask{2};
  EXPECT_FALSE(share_a_gpu(two[0], two[1]));
}

TEST_F(PaceTest, IsSlowUnderAPowerLimit) {
  const energy::PowerModel power = *energy::read_power("dgx1");
  cluster_.classes.front().gpu_power_limit_w = power.gpu_least_limit_w;
  const std::vector<store::Job> running{job(1, "bert", 8)};
  const SpeedFacts facts{.cluster = cluster_, .speeds = speeds_, .power = &power};
  const auto limited = pace_of(JobNumber{1}, running, facts);
  ASSERT_TRUE(limited);
  EXPECT_LT(limited->parts.power, 0.95);
  // What the model was not measured at is not known.
  cluster_.classes.front().gpu_power_limit_w = 1;
  EXPECT_EQ(pace_of(JobNumber{1}, running, facts)->parts.power, 1);
}

}  // namespace
}  // namespace almanac::service
