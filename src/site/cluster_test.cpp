// SPDX-License-Identifier: Apache-2.0
#include "site/cluster.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/read.h"
#include "support/shared_data.h"
#include "support/temporary_folder.h"

namespace almanac::site {
namespace {

using testing::Contains;
using testing::HasSubstr;

class SiteCluster : public testing::Test {
 protected:
  cluster::Cluster read(const std::string& name, std::string_view text) {
    auto made = site::read_cluster(folder_.write(name, text));
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? std::move(*made) : cluster::Cluster{};
  }
  /// The error from the file's name on.
  std::string error(const std::string& name, std::string_view text) {
    const auto made = site::read_cluster(folder_.write(name, text));
    if (made) return "no error";
    const std::string all = to_string(made.error());
    return all.substr(all.find(name));
  }
  TemporaryFolder folder_;
};

TEST_F(SiteCluster, ReadsSlurmConfWithAllItsWays) {
  folder_.write("nodes.conf", "NodeName=c[1-2] CPUs=32 RealMemory=131072 # CPUs only\n");
  const cluster::Cluster made =
      read("slurm.conf",
           "ClusterName=x\n"
           "SlurmctldParameters=a,\\\n  b\n"
           "NodeName=DEFAULT CPUs=64 RealMemory=524288\n"
           "NodeName=g[001-003] Gres=gpu:a100:8,shard:32 Feature=big,new\n"
           "nodename = g004 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CPUs=0 "
           "gres=gpu:v100:4\n"
           "Include nodes.conf\n"
           "NodeName=f[1-2] State=FUTURE\n"
           "NodeSet=bigs Feature=big\n"
           "PartitionName=DEFAULT State=UP\n"
           "PartitionName=gpu Nodes=bigs,g004 Default=YES\n"
           "PartitionName=debug \\\n  Nodes=g004,f1\n"
           "PartitionName=cpu Nodes=c[1-2]\n");
  ASSERT_EQ(made.vcs.size(), 2U);
  EXPECT_EQ(made.vcs[0].name, "cpu");
  EXPECT_EQ(made.vcs[1].name, "debug+gpu");
  ASSERT_EQ(made.nodes.size(), 6U);
  const cluster::NodeClass& cpu = made.classes.at(made.nodes[0].node_class);
  EXPECT_EQ(cpu.gpus, 0);
  EXPECT_EQ(cpu.cpus, 32);
  const cluster::NodeClass& a100 = made.classes.at(made.nodes[2].node_class);
  EXPECT_EQ(a100.gpus, 8);
  EXPECT_EQ(a100.gpu_type, "a100");
  EXPECT_EQ(a100.cpus, 64);
  EXPECT_EQ(a100.memory_gb, 512);
  EXPECT_EQ(a100.shards_per_gpu, 4);
  const cluster::NodeClass& v100 = made.classes.at(made.nodes[5].node_class);
  EXPECT_EQ(v100.gpus, 4);
  EXPECT_EQ(v100.cpus, 64) << "2 x 16 x 2";
  EXPECT_EQ(made.nodes[5].name, "g004");
  EXPECT_EQ(made.find_vc_of_jobs("gpu"), VcId{1});
  EXPECT_EQ(made.find_vc_of_jobs("gpu+cpu"), kNoVc);
  EXPECT_EQ(made.find_vc("gpu"), kNoVc);
}

TEST_F(SiteCluster, TakesTypesFromGresConfBesideItOrBehindIt) {
  const std::string conf =
      "NodeName=n[1-2],m1 CPUs=48 RealMemory=1024 Gres=gpu:4\n"
      "PartitionName=all Nodes=ALL\n";
  const std::string gres =
      "AutoDetect=off\n"
      "NodeName=n[1-2] Name=gpu Type=v100 File=/dev/nvidia[0-3] Cores=0-23\n"
      "NodeName=m1 Name=gpu Type=a40 File=/dev/nvidia[0-1]\n"
      "NodeName=m1 Name=gpu Type=a100 Count=2\n";
  const cluster::Cluster both = read("both.conf", conf + gres);
  ASSERT_EQ(both.nodes.size(), 4U) << "m1 is one of each type";
  EXPECT_EQ(both.classes.at(0).gpu_type, "v100");
  EXPECT_EQ(both.classes.at(0).gpus, 4);
  EXPECT_EQ(both.classes.at(1).gpu_type, "a40");
  EXPECT_EQ(both.classes.at(1).gpus, 2);
  EXPECT_EQ(both.classes.at(1).cpus, 24);
  EXPECT_TRUE(both.takes_every_job);
  folder_.write("gres.conf", gres);
  const cluster::Cluster beside = read("slurm.conf", conf);
  EXPECT_EQ(cluster::to_toml(beside), cluster::to_toml(both));
  const cluster::Cluster alone = read("gres.conf", gres);
  EXPECT_EQ(alone.gpus(), 12);
}

TEST_F(SiteCluster, NamesFileAndLineOfAMistake) {
  EXPECT_EQ(
      error("a.conf", "NodeName=a CPUs=many Gres=gpu:4\n"),
      "a.conf:1: CPUs must be a whole number of 0 or more, found \"many\" (correct the line, or "
      "write the file again with Slurm's command)");
  EXPECT_THAT(error("b.conf", "NodeName=a1 CPUs=4 Gres=gpu:4\nPartitionName=p Nodes=a2\n"),
              HasSubstr("b.conf:2: Nodes must be NodeNames or NodeSets, found a2"));
  EXPECT_THAT(error("c.conf", "NodeName=a CPUs=4 Gres=gpu:4\n\nhello world\n"),
              HasSubstr("c.conf:3: a line must be Key=Value"));
  EXPECT_THAT(error("d.conf", "NodeName=a Gres=gpu:4\nInclude none.conf\n"),
              HasSubstr("d.conf:2: the file"));
  EXPECT_THAT(error("e.conf", "NodeName=a Gres=gpu:4\nNodeName=a Gres=gpu:4\n"),
              HasSubstr("e.conf:2: node a is listed twice"));
  EXPECT_THAT(error("f.conf", "NodeName=a[1-\n"),
              HasSubstr("f.conf:1: NodeName must be a list of nodes"));
  EXPECT_THAT(error("g.conf", "NodeName=a Gres=gpu:a100:x\n"),
              HasSubstr("g.conf:1: Gres must be a list like gpu:a100:8"));
  EXPECT_THAT(error("h.conf", "NodeName=a CPUs=4\n"), HasSubstr("no node has a GPU in its Gres"));
}

constexpr const char* kBlocks = R"(NodeName=g001 Arch=x86_64 CoresPerSocket=12 
   CPUAlloc=0 CPUEfctv=48 CPUTot=48 CPULoad=0.10
   AvailableFeatures=(null)
   Gres=gpu:v100:8(S:0-1)
   OS=Linux 5.10.0-20-amd64 #1 SMP Debian 5.10.158-2 (2022-12-13) 
   RealMemory=393216 AllocMem=0 FreeMem=10000 Sockets=2 Boards=1
   State=IDLE ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A
   Partitions=gpu,debug 

NodeName=g002 Arch=x86_64 CoresPerSocket=12 
   CPUAlloc=0 CPUTot=48 
   Gres=gpu:v100:8(S:0-1)
   RealMemory=393216 
   State=DOWN*+DRAIN ThreadsPerCore=2 
   Partitions=gpu 
   Reason=bad fan [root@2026-11-01T00:00:00]
)";

TEST_F(SiteCluster, ReadsScontrolShowNodesInBlocksAndInLines) {
  const cluster::Cluster blocks = read("nodes.txt", kBlocks);
  ASSERT_EQ(blocks.nodes.size(), 2U);
  EXPECT_EQ(blocks.vcs.at(0).name, "debug+gpu");
  EXPECT_EQ(blocks.classes.at(0),
            (cluster::NodeClass{.gpus = 8, .gpu_type = "v100", .cpus = 48, .memory_gb = 384}));
  EXPECT_THAT(blocks.notes, Contains(HasSubstr("1 node down or drained now, but counted: g002")));
  std::string lines = kBlocks;  // -o: a node is a line
  for (auto at = lines.find("\n   "); at != std::string::npos; at = lines.find("\n   ")) {
    lines.replace(at, 4, " ");
  }
  EXPECT_EQ(cluster::to_toml(read("lines.txt", lines)), cluster::to_toml(blocks));
  const cluster::Cluster typed = read("typed.txt",
                                      "NodeName=a CPUTot=4 RealMemory=1024 Gres=gpu:4 Partitions=p "
                                      "CfgTRES=cpu=4,gres/gpu=4,gres/gpu:a100=4\n");
  EXPECT_EQ(typed.classes.at(0).gpu_type, "a100");
  EXPECT_THAT(error("bad.txt", "NodeName=a CPUTot=4x RealMemory=5 Gres=gpu:1\n"),
              HasSubstr("bad.txt:1: CPUTot must be a whole number of 0 or more, found \"4x\""));
}

TEST_F(SiteCluster, HasTheTiersSwitchesAndLimitsOfASite) {
  folder_.write("site/slurm.conf",
                "ClusterName=x\nAccountingStorageTRES=gres/gpu\nAccountingStorageEnforce=limits\n"
                "PriorityType=priority/multifactor\nTopologyPlugin=topology/tree\n"
                "NodeName=n[1-4] CPUs=8 Gres=gpu:4\n"
                "PartitionName=fast Nodes=n[1-2] PriorityTier=9\n"
                "PartitionName=slow Nodes=n[3-4]\n"
                "PartitionName=night Nodes=n4 PriorityTier=3 MaxTime=60\n");
  folder_.write("site/topology.conf",
                "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\n"
                "SwitchName=top Switches=s[1-2]\n");
  folder_.write("site/assoc.txt",
                "Account|User|ParentName|Share|GrpTRES\nroot||||\nlab||root|1|gres/gpu=6\n"
                "lab|ann||1|\nlab|eve||1|\nfree||root|1|\nfree|eve||1|\n");
  const auto made = site::read_cluster(folder_ / "site");
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_EQ(made->vcs.size(), 2U);
  EXPECT_EQ(made->vcs[0].name, "fast");
  EXPECT_EQ(made->vcs[0].priority_tier, 9);
  EXPECT_EQ(made->vcs[1].name, "night+slow");
  EXPECT_THAT(
      made->notes,
      Contains(HasSubstr("priority tiers 1 (slow) and 3 (night), which only policy slurm models")));
  EXPECT_THAT(made->notes, Contains(HasSubstr("only policy slurm models these parts of the site: "
                                              "priority factors, partition limits")));
  EXPECT_EQ(made->nodes[3].rack, "top/s2");
  ASSERT_EQ(made->tenants.size(), 2U) << "eve is of two accounts";
  EXPECT_EQ(made->tenants[0].name, "lab");
  EXPECT_EQ(made->tenants[0].limit, 6);
  EXPECT_EQ(made->tenants[1].name, "ann");
  EXPECT_EQ(made->tenants[1].parent, 0);
}

TEST_F(SiteCluster, BlocksAreNvlinkDomains) {
  folder_.write("site/slurm.conf",
                "ClusterName=x\nTopologyPlugin=topology/block\nNodeName=n[1-4] CPUs=8 Gres=gpu:4\n"
                "PartitionName=all Nodes=n[1-4]\n");
  folder_.write("site/topology.conf",
                "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2\n");
  const auto made = site::read_cluster(folder_ / "site");
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->nodes[3].rack, "b2");
  EXPECT_EQ(made->classes.front().nvlink_domain, cluster::NvlinkDomain::rack);
}

TEST_F(SiteCluster, EveryRecordedSiteIsACluster) {
  const auto root = shared_path("golden/slurm");
  if (!root) GTEST_SKIP() << "golden/slurm is absent";
  int clusters = 0;
  for (const auto& each : std::filesystem::directory_iterator(*root)) {
    if (!std::filesystem::exists(each.path() / "scontrol_config.txt")) continue;
    const auto made = site::read_cluster(each.path().string());
    ASSERT_TRUE(made) << to_string(made.error());
    ++clusters;
    EXPECT_EQ(made->gpus(), 48) << each.path();
    EXPECT_EQ(made->nodes.size(), 8U);
    EXPECT_TRUE(made->takes_every_job) << "all partitions share nodes";
    EXPECT_THAT(made->notes, Contains(HasSubstr("only policy slurm models")));
  }
  EXPECT_GE(clusters, 14);
}

}  // namespace
}  // namespace almanac::site
