// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/nodes/choose.h"

#include <gtest/gtest.h>

#include "slurmctld/eight_nodes_test.h"

namespace almanac::slurmctld {
namespace {

TEST(ChooseNodes, TakesTheFullestNodeOfTheLightestWeight) {
  Machines machines;
  EXPECT_EQ(machines.start("-n1"), "n05:1");
  EXPECT_EQ(machines.start("-n20 -w n07"), "n07:20");
  EXPECT_EQ(machines.start("-n4"), "n07:4");
  EXPECT_EQ(machines.start("-n31"), "n05:31");
}

TEST(ChooseNodes, FillsARunOfNodesInOrder) {
  Machines machines;
  EXPECT_EQ(machines.start("-N2 -n4"), "n05:3 n06:1");
  EXPECT_EQ(machines.start("-n64"), "n05:29 n06:31 n07:4");
}

TEST(ChooseNodes, GoesOnWithTheNextWeightIfTheLightestIsTooSmall) {
  Machines machines;
  EXPECT_EQ(machines.start("-n128"), "n05:32 n06:32 n07:32 n08:32");
  EXPECT_EQ(machines.start("-N2 -n20"), "n01:16 n02:4");
}

TEST(ChooseNodes, SplitsARunAtAFullNode) {
  Machines machines;
  machines.start("-n128");
  EXPECT_EQ(machines.start("-n16 -w n02"), "n02:16");
  // n01 alone is tighter than n03 and n04 together.
  EXPECT_EQ(machines.start("-n10"), "n01:10");
}

TEST(ChooseNodes, DropsTheNodesThatOfferLeastUntilAPickSucceeds) {
  Machines machines;
  for (const char* node : {"n06", "n08"}) machines.start(fmt::format("-n24 -w {}", node));
  machines.start("-n16 -w n07");
  machines.start("-n32 -w n05");
  // Of n06, n07 and n08, no two have 32 CPUs; n07 and a heavy node have.
  EXPECT_EQ(machines.start("-N2 -n32"), "n01:16 n07:16");
}

TEST(ChooseNodes, TiesNodesThatHoldTheTasksOfAGpuJob) {
  Machines machines;
  machines.start("-n4 -w n06");
  // The fullest node would be n06: tasks per node are known, so all offer one CPU.
  EXPECT_EQ(machines.start("-N1 -n1 --gres=gpu:2"), "n05:1");
}

TEST(ChooseNodes, PrefersNodesWithEnoughGpus) {
  Machines machines;
  EXPECT_EQ(machines.start("-n1 --gres=gpu:a100:1"), "n01:1");
  EXPECT_EQ(machines.start("--gpus=a100:4"), "n02:1");
}

TEST(ChooseNodes, GivesGpusOfTheTypeAskedFor) {
  Machines machines;
  const auto found = machines.find("-N2 -n2 --gres=gpu:v100:8");
  ASSERT_TRUE(found);
  for (const Share& share : found->shares) {
    EXPECT_EQ(share.gpus, (std::vector<GpuCount>{{1, 8}}));
  }
  EXPECT_FALSE(machines.find("-N5 -n5 --gres=gpu:v100:8"));
}

TEST(ChooseNodes, CountsMemory) {
  Machines machines;
  EXPECT_EQ(machines.start("-n1 --mem=100000"), "n05:1");
  EXPECT_EQ(machines.start("-n1 --mem=100000"), "n06:1");
  EXPECT_EQ(machines.start("-n4 --mem-per-cpu=16000"), "n07:4");
}

TEST(ChooseNodes, GivesWholeNodesToExclusiveJobs) {
  Machines machines;
  machines.start("-n1");
  const auto found = machines.find("-n2 --exclusive");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shares.front().node, 5U);
  EXPECT_EQ(found->shares.front().cpus, 32);
  EXPECT_EQ(found->shares.front().num_gpus(), 8);
}

TEST(ChooseNodes, HeedsFeaturesAndExcludedNodes) {
  Machines machines;
  EXPECT_EQ(machines.start("-n1 -C a100"), "n01:1");
  EXPECT_EQ(machines.start("-n1 -x n[05-07]"), "n08:1");
}

TEST(ChooseNodes, RoundsUpToWholeCores) {
  site::Site site = eight_nodes();
  for (site::Node& node : site.nodes) {
    node.threads_per_core = 2;
    node.cpus *= 2;
    node.effective_cpus *= 2;
    node.weight = 1;
  }
  Machines machines(std::move(site));
  EXPECT_EQ(machines.start("-n1"), "n01:2");
  EXPECT_EQ(machines.start("-N2 -n4"), "n01:2 n02:2");
  EXPECT_EQ(machines.start("-n6 --ntasks-per-core=1"), "n01:12");
}

TEST(ChooseNodes, LetsJobsShareCoresWhereAPartitionForcesIt) {
  site::Site site = eight_nodes();
  site.partitions.front().nodes = {0};
  site.partitions.front().oversubscribe = site::OverSubscribe::force;
  site.partitions.front().rows = 2;
  Machines machines(std::move(site));
  machines.room.watch(machines.rules);
  machines.all = NodeBits(machines.table.size());
  machines.all.insert(0);
  EXPECT_EQ(machines.start("-n16"), "n01:16");
  EXPECT_EQ(machines.start("-n10"), "n01:10");
  EXPECT_EQ(machines.start("-n10"), "");
  EXPECT_EQ(machines.start("-n6"), "n01:6");
}

TEST(ChooseNodes, NeverMixesJobsThatShareCoresWithOthers) {
  site::Site site = eight_nodes();
  site.partitions.front().oversubscribe = site::OverSubscribe::force;
  site.partitions.front().rows = 2;
  site.partitions.push_back({.name = "plain", .nodes = {0, 1, 2, 3, 4, 5, 6, 7}});
  Machines machines(std::move(site));
  machines.room.watch(machines.rules);
  machines.start("-n1 -w n05");
  machines.rules = rules_of(machines.site.partitions.back(), 1);
  EXPECT_EQ(machines.start("-n1"), "n06:1");
  machines.rules = rules_of(machines.site.partitions.front(), 0);
  EXPECT_EQ(machines.start("-n1 -w n06"), "");
  EXPECT_EQ(machines.start("-n31 -w n05"), "n05:31");
}

TEST(ChooseNodes, KeepsTheCpusOfATaskOnOneSocket) {
  Machines machines;
  // A socket of 16 CPUs holds five tasks of three. Sockets get tasks in turn: five and four.
  const auto found = machines.find("-N1 -n9 -c3 -w n05");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shares.front().cores[0], 15);
  EXPECT_EQ(found->shares.front().cores[1], 12);
  // Tasks stay together where the first socket holds them all.
  EXPECT_EQ(machines.find("-N1 -n2 -c3 -w n05")->shares.front().cores[0], 6);
}

TEST(ChooseNodes, TakesNodesWithTheSameOneOfSomeFeatures) {
  Machines machines;
  EXPECT_FALSE(machines.find("-N5 -n5 -C [a100|v100]"));
  EXPECT_EQ(machines.start("-N4 -n4 -C [a100|v100]"), "n01:1 n02:1 n03:1 n04:1");
  EXPECT_EQ(machines.start("-N5 -n5 -C a100|v100"), "n01:1 n05:1 n06:1 n07:1 n08:1");
}

TEST(ChooseNodes, StaysBelowFewSwitches) {
  site::Site site = eight_nodes();
  for (site::Node& node : site.nodes) node.weight = 1;
  site.config.topology.type = site::TopologyType::tree;
  site.switches = {{.name = "s1", .nodes = {0, 1, 2}},
                   {.name = "s2", .nodes = {3, 4}},
                   {.name = "s3", .nodes = {5, 6, 7}},
                   {.name = "top", .level = 1, .below = {0, 1, 2}}};
  Machines machines(std::move(site));
  // The leaf with the fewest nodes that are enough.
  EXPECT_EQ(machines.start("-N2 -n2"), "n04:1 n05:1");
  EXPECT_EQ(machines.start("-N3 -n3"), "n01:1 n02:1 n03:1");
}

TEST(Choose, KeepsNvlinkGroupsInOneDomain) {
  Machines machines;
  machines.table.nvlink_domains = {0, 0, 0, 0, 1, 1, 2, 2};
  const auto nodes_for = [&](const std::string& options, int nvlink_gpus) {
    Submission job = machines.parse(options);
    job.request.nvlink_gpus = nvlink_gpus;
    const auto found =
        choose(machines.room,
               {.request = job.request, .partition = machines.rules, .candidates = machines.all});
    std::string text;
    if (!found) return text;
    for (const Share& share : found->shares) {
      text += fmt::format("{}:{} ", machines.table.nodes[share.node].name, share.num_gpus());
    }
    return text;
  };
  EXPECT_NE(machines.start("-N1 -n1 -w n05 --gres=gpu:8"), "");
  EXPECT_EQ(nodes_for("-N2 -n2 --gres=gpu:v100:8", 0), "n06:8 n07:8 ");
  EXPECT_EQ(nodes_for("-N2 -n2 --gres=gpu:v100:8", 8), "n06:8 n07:8 ")
      << "n05 and n06 are a domain";
  EXPECT_EQ(nodes_for("-N2 -n2 --gres=gpu:v100:8", 16), "n07:8 n08:8 ");
  EXPECT_EQ(nodes_for("-N3 -n3 --gres=gpu:v100:8", 8), "n06:8 n07:8 n08:8 ");
  EXPECT_NE(machines.start("-N1 -n1 -w n08 --gres=gpu:8"), "");
  EXPECT_EQ(nodes_for("-N2 -n2 --gres=gpu:v100:8", 16), "");
}

}  // namespace
}  // namespace almanac::slurmctld
