// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes of a real Slurm whose GPUs are cut in instances of two sizes: what is told of them and of
/// jobs that ask them, what a policy would do, and in which order they start.
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/command_link.h"
#include "slurm/test_cluster.h"
#include "steer/decider.h"
#include "steer/mirror.h"
#include "steer/policies.h"
#include "steer/world.h"

namespace almanac::slurm {
namespace {

using testing::ElementsAre;

constexpr const char* kInstances = "gpu:1g.10gb:4,gpu:3g.40gb:1";

const Job& find(const News& news, std::uint32_t number) {
  static const Job none;
  for (const Job& job : news.jobs) {
    if (job.number == JobNumber{number}) return job;
  }
  return none;
}

TEST(InstancesSlurm, AreToldByTypeAndCountAsNodesOfEachType) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1, .gres = kInstances});
  const auto small = cluster.submit("--gres=gpu:1g.10gb:2 -t 90 --wrap 'sleep 600'");
  const auto large = cluster.submit("--gres=gpu:3g.40gb:1 -t 90 --wrap 'sleep 600'");
  // After them: Slurm keeps a whole node for what it plans.
  const auto waits = cluster.submit("--gres=gpu:1g.10gb:3 -t 90 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(small, "RUNNING"));
  ASSERT_TRUE(cluster.becomes(large, "RUNNING"));
  CommandLink link;
  const auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  ASSERT_EQ(news->nodes.size(), 1U);
  EXPECT_EQ(news->nodes[0].gpus, 5);
  EXPECT_THAT(news->nodes[0].types,
              ElementsAre(text::TypedGpus{"1g.10gb", 4}, text::TypedGpus{"3g.40gb", 1}));
  EXPECT_EQ(find(*news, waits).gpu_type, "1g.10gb");
  EXPECT_EQ(find(*news, waits).gpus, 3);
  EXPECT_EQ(find(*news, large).gpu_type, "3g.40gb");
  ASSERT_EQ(find(*news, small).holds.size(), 1U);
  EXPECT_EQ(find(*news, small).holds[0].gpu_count, 2);
}

TEST(InstancesSlurm, GoToJobsThatAskThemInTheOrderOfThePolicy) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1, .gres = kInstances});
  const auto runs = cluster.submit("--gres=gpu:1g.10gb:3 -t 90 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(runs, "RUNNING"));
  const auto two = cluster.submit("--gres=gpu:1g.10gb:2 -t 30 --wrap 'sleep 600'");
  const auto soon = cluster.submit("--gres=gpu:1g.10gb:2 -t 10 --wrap 'sleep 600'");
  CommandLink link;
  auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  steer::Mirror mirror;
  mirror.take(*std::move(news));
  const auto world = steer::make_world(mirror, steer::Grouping::all);
  EXPECT_EQ(world->cluster.nodes.size(), 2U);
  steer::Decider decider(*steer::compose("sjf+limit"), {}, 0);
  const steer::Decision& decision = decider.decide(mirror, world, {});
  EXPECT_TRUE(decision.never.empty());
  EXPECT_TRUE(decision.starts.empty());
  ASSERT_EQ(decision.lines.size(), 1U);
  EXPECT_THAT(decision.lines[0].jobs, ElementsAre(JobNumber{soon}, JobNumber{two}));
  // The instance of the other size is free, and of no use to it.
  const auto why = decider.why(JobNumber{soon});
  ASSERT_TRUE(why);
  EXPECT_EQ(policy::name(why->kind), std::string("SHORT_OF_GPUS"));
  cluster.must(fmt::format("scancel {}", runs));
  EXPECT_TRUE(cluster.becomes(two, "RUNNING"));
  EXPECT_TRUE(cluster.becomes(soon, "RUNNING"));
}

}  // namespace
}  // namespace almanac::slurm
