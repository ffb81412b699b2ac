// SPDX-License-Identifier: Apache-2.0
#include "cluster/read.h"

#include <gtest/gtest.h>

#include "cluster/ledger.h"
#include "cluster/read_toml.h"
#include "cluster/sockets.h"
#include "support/temporary_folder.h"

namespace almanac::cluster {
namespace {

std::string message(const Result<Cluster>& refused) {
  return refused ? std::string("accepted") : to_string(refused.error());
}

TEST(ReadCluster, TakesTheShorthand) {
  const auto made = read_cluster("20x8");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->nodes.size(), 20U);
  EXPECT_EQ(made->gpus(), 160);
  EXPECT_TRUE(made->takes_every_job);
  EXPECT_EQ(message(read_cluster("20x0")),
            "a cluster must be NxG: N nodes of G GPUs, N from 1, G from 1 to 64, found 20x0");
}

constexpr const char* kMixed = R"(
[node]
gpus = 8
gpu_type = "V100"
cpus = 28
memory_gb = 250
bandwidth_gbs = 100
uplink_gbps = 25

[[vc]]
name = "vision"
nodes = 2

[[vc]]
name = "speech"
  [[vc.group]]
  nodes = 1
  names = ["s1"]
  [[vc.group]]
  nodes = 3
  gpus = 4
  gpu_type = "T4"
  bandwidth_gbs = 62.5
  gpu_power_limit_w = 60
  rack = "pod1/r2"

[[change]]
at = "2020-05-01"
vc = "speech"
nodes = 2

[[switch]]
path = "pod1"
uplink_gbps = 100

[storage]
remote_gbs = 1.5
cache_gb = 2000
)";

TEST(ReadCluster, ReadsGroupsAndChangesFromToml) {
  const auto made = parse_toml(kMixed, "mixed.toml");
  ASSERT_TRUE(made) << message(made);
  EXPECT_EQ(made->gpus(VcId{0}), 16);
  EXPECT_EQ(made->gpus(VcId{1}), 8 + 3 * 4);
  EXPECT_EQ(made->node_label(NodeId{2}), "s1");
  EXPECT_EQ(made->node_label(NodeId{3}), "1") << "numbered within its virtual cluster";
  EXPECT_EQ(made->gpu_types(), (std::vector<std::string>{"V100", "T4"}));
  const NodeClass& usual = made->classes[made->nodes[0].node_class];
  EXPECT_EQ(usual, (NodeClass{.gpus = 8,
                              .gpu_type = "V100",
                              .cpus = 28,
                              .memory_gb = 250,
                              .bandwidth_gbs = 100,
                              .uplink_gbps = 25}));
  EXPECT_EQ(made->classes[made->nodes[3].node_class].bandwidth_gbs, 62.5);
  EXPECT_EQ(made->classes[made->nodes[3].node_class].gpu_power_limit_w, 60);
  ASSERT_EQ(made->changes.size(), 1U);
  EXPECT_EQ(made->changes[0].nodes, 2);
  EXPECT_EQ(made->switches, (std::vector<Switch>{{"pod1", 100}}));
  EXPECT_EQ(made->storage, (Storage{.remote_gbs = 1.5, .cache_gb = 2000}));
  EXPECT_TRUE(made->has_links());
}

TEST(ReadCluster, WritesTomlThatReadsBackTheSame) {
  const auto made = parse_toml(kMixed, "mixed.toml");
  ASSERT_TRUE(made);
  const auto again = parse_toml(to_toml(*made), "again.toml");
  ASSERT_TRUE(again) << message(again);
  EXPECT_EQ(to_toml(*again), to_toml(*made));
  EXPECT_EQ(again->gpus(), made->gpus());
  EXPECT_EQ(again->switches, made->switches);
  EXPECT_EQ(again->storage, made->storage);
  for (std::size_t i = 0; i < made->nodes.size(); ++i) {
    EXPECT_EQ(again->classes[again->nodes[i].node_class], made->classes[made->nodes[i].node_class]);
  }
}

TEST(ReadCluster, ReadsPriorityTiers) {
  const auto made = parse_toml(
      "[[vc]]\nname = \"a\"\nnodes = 1\npriority_tier = -1\n"
      "[[tenant]]\nname = \"lab\"\npriority_tier = 2\n"
      "[[tenant]]\nname = \"vision\"\nparent = \"lab\"\n"
      "[[qos]]\nname = \"high\"\npriority_tier = 3\nusers = [\"ann\", \"bob\"]\n"
      "[[qos]]\nname = \"usual\"\n",
      "c.toml");
  ASSERT_TRUE(made) << message(made);
  EXPECT_TRUE(made->has_tiers());
  EXPECT_EQ(made->tier("high", TenantId{1}, VcId{0}), 3);
  EXPECT_EQ(made->tier("usual", TenantId{1}, VcId{0}), 2) << "the parent of its tenant";
  EXPECT_EQ(made->tier("", kNoTenant, VcId{0}), -1);
  EXPECT_EQ(made->tier("", kNoTenant, kNoVc), 0);
  const auto again = parse_toml(to_toml(*made), "again.toml");
  ASSERT_TRUE(again) << message(again);
  EXPECT_EQ(again->qos, made->qos);
  EXPECT_EQ(again->tenants, made->tenants);
  EXPECT_EQ(again->vcs[0].priority_tier, -1);
}

TEST(ReadCluster, RefusesAQosThatIsNone) {
  const std::string vc = "[[vc]]\nname = \"a\"\nnodes = 1\n";
  const auto refused = [&](const std::string& more) {
    return message(parse_toml(vc + more, "c.toml"));
  };
  EXPECT_EQ(refused("[[qos]]\n"), "c.toml:4:1: a [[qos]] needs a name");
  EXPECT_EQ(refused("[[qos]]\nname = \"q\"\n[[qos]]\nname = \"q\"\n"),
            "c.toml:6:1: QOS q is listed twice");
  EXPECT_EQ(refused("[[qos]]\nname = \"q\"\npriority_tier = 1000001\n"),
            "c.toml:6:17: priority_tier must be -1000000 to 1000000, found 1000001");
  EXPECT_EQ(refused("[[qos]]\nname = \"q\"\nusers = []\n"),
            "c.toml:6:9: QOS q is open to no user (leave out users to open it to all)");
}

TEST(ReadCluster, SaysHowGpusAreShared) {
  constexpr const char* kShared = R"(
[node]
gpus = 4
gpu_type = "A100"
sharing = "mig"
board = "A100-80GB"

[[vc]]
name = "v"
  [[vc.group]]
  nodes = 1
  [[vc.group]]
  nodes = 1
  board = "A100-40GB"
  instance_s = 0.5
  [[vc.group]]
  nodes = 1
  sharing = "mps"
  [[vc.group]]
  nodes = 1
  sharing = "parts"
  gpu_memory_gb = 32
)";
  const auto made = parse_toml(kShared, "c.toml");
  ASSERT_TRUE(made) << message(made);
  const auto& of = made->classes;
  ASSERT_EQ(of.size(), 4U);
  EXPECT_EQ(of[0].sharing, Sharing::mig);
  EXPECT_EQ(of[0].board->name, "A100-80GB");
  EXPECT_EQ(of[0].gpu_memory_gb, 80) << "that of its board";
  EXPECT_EQ(of[1].gpu_memory_gb, 40);
  EXPECT_EQ(of[1].instance_s, 0.5);
  EXPECT_EQ(of[2].sharing, Sharing::mps);
  EXPECT_EQ(of[2].board, nullptr);
  EXPECT_EQ(of[3].gpu_memory_gb, 32);
  EXPECT_EQ(made->gpu_types(), (std::vector<std::string>(4, "A100"))) << "kinds of one type";
  const auto again = parse_toml(to_toml(*made), "again.toml");
  ASSERT_TRUE(again) << message(again);
  for (std::size_t i = 0; i < made->nodes.size(); ++i) {
    EXPECT_EQ(again->classes[again->nodes[i].node_class], made->classes[made->nodes[i].node_class]);
  }

  EXPECT_EQ(
      message(parse_toml("[node]\nsharing = \"migs\"\n", "c.toml")),
      "c.toml:2:11: sharing must be parts, mps, time or mig, not \"migs\" (did you mean mig?)");
  EXPECT_EQ(message(parse_toml("[node]\nsharing = \"mig\"\nboard = \"A100-80\"\n", "c.toml")),
            "c.toml:3:9: board must be one of A100-40GB, A100-80GB, H100-SXM-80GB, H100-PCIe-80GB, "
            "H200-141GB, A30-24GB, not \"A100-80\" (did you mean A100-80GB?)");
  EXPECT_EQ(message(parse_toml("[node]\nsharing = \"mig\"\n", "c.toml")),
            "c.toml:1:1: sharing = \"mig\" requires the board of the GPUs");
  EXPECT_EQ(message(parse_toml("[node]\nboard = \"A30-24GB\"\n", "c.toml")),
            "c.toml:2:9: board requires sharing = \"mig\"");
}

TEST(ReadCluster, FillsRacksThatAreNvlinkDomains) {
  const std::string text =
      "[[vc]]\nname = \"a\"\nnodes = 5\ngpus = 4\nrack = \"hall\"\nrack_nodes = 2\n"
      "nvlink_domain = \"rack\"\n[[vc]]\nname = \"b\"\nnodes = 2\n";
  const Result<Cluster> read = parse_toml(text, "c.toml");
  ASSERT_TRUE(read) << to_string(read.error());
  std::vector<std::string> racks;
  for (const Node& node : read->nodes) racks.push_back(node.rack);
  EXPECT_THAT(racks, testing::ElementsAre("hall/rack1", "hall/rack1", "hall/rack2", "hall/rack2",
                                          "hall/rack3", "", ""));
  const Ledger ledger(*read);
  std::vector<std::size_t> domains;
  for (std::uint32_t at = 0; at < 7; ++at) domains.push_back(index(ledger.domain(NodeId{at})));
  EXPECT_THAT(domains, testing::ElementsAre(0, 0, 2, 2, 4, 5, 6));
  const Result<Cluster> again = parse_toml(to_toml(*read), "c.toml");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(to_toml(*again), to_toml(*read));
  EXPECT_EQ(again->classes[again->nodes.front().node_class].nvlink_domain, NvlinkDomain::rack);
}

TEST(ReadCluster, NamesMistakesInNvlinkDomains) {
  const auto mistake = [](const std::string& lines) {
    return message(parse_toml("[[vc]]\nname = \"a\"\nnodes = 3\n" + lines, "c.toml"));
  };
  EXPECT_EQ(mistake("rack_nodes = 1.5\n"), "c.toml:4:14: rack_nodes must be a whole number");
  EXPECT_EQ(mistake("rack_nodes = 0\n"), "c.toml:4:14: rack_nodes must be 1 to 1000000, found 0");
  EXPECT_EQ(mistake("nvlink_domain = \"pod\"\n"),
            "c.toml:4:17: nvlink_domain must be node or rack, not \"pod\"");
  EXPECT_EQ(mistake("nvlink_domain = \"rack\"\n"),
            "c.toml:1:1: nvlink_domain = \"rack\" requires rack or rack_nodes (rack_nodes = 18 "
            "makes racks of 18 nodes each)");
}

TEST(ReadCluster, NamesPlaceAndNearestKeyOfAMistake) {
  EXPECT_EQ(message(parse_toml("[[vc]]\nname = \"a\"\nnods = 3\n", "c.toml")),
            "c.toml:3:1: unknown key nods (did you mean nodes?)");
  EXPECT_EQ(message(parse_toml("[[vc]]\nname = \"a\"\nnodes = -3\n", "c.toml")),
            "c.toml:3:9: nodes must be 0 to 1000000, found -3");
  EXPECT_EQ(message(parse_toml("[[vc]]\nname = \"a\"\nnodes = \"3\"\n", "c.toml")),
            "c.toml:3:9: nodes must be a whole number");
  EXPECT_EQ(message(parse_toml("[node]\ngpus = 6\nsockets = 4\n", "c.toml")),
            "c.toml:3:11: 6 GPUs cannot be spread evenly over 4 sockets");
  EXPECT_EQ(
      message(parse_toml("[[vc]]\nname = \"v\"\nnodes = 1\nrack = \"a//b\"\n", "c.toml")),
      "c.toml:1:1: rack is the names of switches separated by slashes (core/pod1/r2), not a//b");
  EXPECT_EQ(message(parse_toml("[node]\nbandwidth_gbs = -1\n", "c.toml")),
            "c.toml:2:17: bandwidth_gbs must be 0 to 1000000, found -1");
  EXPECT_EQ(message(parse_toml("[node]\ngpu_power_limit_w = \"low\"\n", "c.toml")),
            "c.toml:2:21: gpu_power_limit_w must be a number");
  EXPECT_EQ(message(parse_toml("[node]\ngpu_power_limit = 200\n", "c.toml")),
            "c.toml:2:1: unknown key gpu_power_limit (did you mean gpu_power_limit_w?)");
  EXPECT_EQ(message(parse_toml("[node]\ncpus = nan\n", "c.toml")),
            "c.toml:2:8: cpus must be 0 to 1000000, found nan");
  const std::string one = "[[vc]]\nname = \"v\"\nnodes = 1\nrack = \"pod1/r2\"\n";
  EXPECT_EQ(message(parse_toml(one + "[[switch]]\npath = \"r2\"\nuplink_gbps = 40\n", "c.toml")),
            "c.toml:5:1: a [[switch]] needs the path of a switch above some node, as in its rack: "
            "no node is below \"r2\"");
  EXPECT_EQ(message(parse_toml(one + "[storage]\ncache_gb = 1\n", "c.toml")),
            "c.toml:5:1: [storage] needs remote_gbs above 0");
  EXPECT_EQ(message(read_cluster("missing.toml")).substr(0, 13), "missing.toml:");
}

class ClusterFile : public testing::Test {
 protected:
  Result<Cluster> read(const std::string& content) {
    return read_cluster(folder_.write("cluster.csv", content));
  }
  TemporaryFolder folder_;
};

TEST_F(ClusterFile, TurnsADailyTableIntoChangesOfCapacity) {
  // vcB grows from 1 node to 3 on the second day; vcC never has any.
  const auto made = read("date,vcA,vcB,vcC,total\n2020-04-01,16,8,0,24\n2020-04-02,16,24,0,40\n");
  ASSERT_TRUE(made) << message(made);
  ASSERT_EQ(made->vcs.size(), 2U);
  EXPECT_EQ(made->vcs[1].num_nodes, 3U);
  ASSERT_EQ(made->changes.size(), 2U);
  EXPECT_EQ(made->changes[0].at, Time::min());
  EXPECT_EQ(made->changes[0].nodes, 1);
  EXPECT_EQ(made->changes[1].nodes, 3);
}

TEST_F(ClusterFile, MergesVirtualClustersAndTheirChanges) {
  // a: 2 nodes throughout; b: 1, then 3. Together 3, then 5 of 5 nodes.
  const auto made = read("date,a,b,total\n2020-04-01,16,8,24\n2020-04-02,16,24,40\n");
  ASSERT_TRUE(made) << message(made);
  const Cluster one = merged(*made);
  EXPECT_TRUE(one.takes_every_job);
  ASSERT_EQ(one.vcs.size(), 1U);
  EXPECT_EQ(one.vcs[0].num_nodes, 5U);
  ASSERT_EQ(one.changes.size(), 2U);
  EXPECT_EQ(one.changes[0].nodes, 3);
  EXPECT_EQ(one.changes[1].nodes, 5);
}

TEST_F(ClusterFile, RefusesATableThatIsNoCluster) {
  EXPECT_NE(message(read("a,b\n1,2\n")).find("not a cluster file: its columns are a, b"),
            std::string::npos);
}

TEST_F(ClusterFile, TakesNodesWithoutGpusForCpuJobs) {
  const auto made =
      read("sn,cpu_milli,memory_mib,gpu,model\nn0,32500,1024,0,\nn1,64000,2048,2,P100\n");
  ASSERT_TRUE(made) << message(made);
  ASSERT_EQ(made->nodes.size(), 2U);
  EXPECT_EQ(made->gpus(), 2);
  const auto node = [&](std::size_t at) { return made->classes[made->nodes[at].node_class]; };
  EXPECT_EQ(node(0), (NodeClass{.gpus = 0, .cpus = 32.5, .memory_gb = 1}));
  EXPECT_EQ(node(1), (NodeClass{.gpus = 2, .gpu_type = "P100", .cpus = 64, .memory_gb = 2}));
  EXPECT_EQ(made->notes, (std::vector<std::string>{"1 of 2 nodes have no GPU"}));
}

TEST_F(ClusterFile, RefusesAmountsThatAreNone) {
  const auto with = [&](const std::string& row) {
    const std::string text = message(read("sn,cpu_milli,memory_mib,gpu,model\n" + row));
    return text.substr(std::min(text.size(), text.find("cluster.csv")));
  };
  EXPECT_EQ(with("n0,many,1024,2,T4\n"),
            "cluster.csv:2: cpu_milli must be a number from 0 to 1000000000, found \"many\"");
  EXPECT_EQ(with("n0,64000,-1,2,T4\n"),
            "cluster.csv:2: memory_mib must be a number from 0 to 1000000000, found \"-1\"");
  EXPECT_EQ(with("n0,64000,1024,0,\n"), "cluster.csv: the cluster has no node with a GPU");
}

std::string with_connections(const std::string& connections) {
  return "[[vc]]\nname = \"a\"\nnodes = 1\ngpus = 4\nconnections = " + connections;
}

TEST(ReadCluster, ReadsHowGpusAreConnected) {
  const auto made = parse_toml(with_connections(R"([
    { by = "socket", gpus = [0, 1, 3] },
    { by = "pcie", gpus = [0, 1] },
    { by = "nvlink", gpus = [3, 0], links = 4 },
  ])"),
                               "a.toml");
  ASSERT_TRUE(made) << message(made);
  EXPECT_EQ(table_of_ways(made->classes.front()),
            "       GPU0   GPU1   GPU2   GPU3\n"
            "GPU0   X      PIX    SYS    NV4\n"
            "GPU1   PIX    X      SYS    NODE\n"
            "GPU2   SYS    SYS    X      SYS\n"
            "GPU3   NV4    NODE   SYS    X\n");
  const auto again = parse_toml(to_toml(*made), "again.toml");
  ASSERT_TRUE(again) << message(again);
  EXPECT_EQ(again->classes, made->classes);
}

TEST(ReadCluster, SaysWhatIsWrongWithConnections) {
  const auto refusal = [](const std::string& connections) {
    return message(parse_toml(with_connections(connections), "a.toml"));
  };
  EXPECT_EQ(refusal("[[0, 1]]"),
            "a.toml:5:16: a connection is a table such as { by = \"nvlink\", gpus = [0, 1] }");
  EXPECT_EQ(refusal("[{ gpus = [0, 1] }]"),
            "a.toml:5:16: a connection needs by: nvlink, pcie or socket");
  EXPECT_EQ(refusal("[{ by = \"nvlnk\", gpus = [0, 1] }]"),
            "a.toml:5:23: \"nvlnk\" is not a kind of connection (did you mean nvlink?)");
  EXPECT_EQ(refusal("[{ by = \"nvlink\" }]"),
            "a.toml:5:16: a connection needs gpus, such as [0, 1]");
  EXPECT_EQ(refusal("[{ by = \"nvlink\", gpus = [0, 4] }]"),
            "a.toml:5:44: a GPU of these nodes is a number from 0 to 3");
  EXPECT_EQ(refusal("[{ by = \"nvlink\", gpus = [2, 2] }]"), "a.toml:5:40: GPU 2 is listed twice");
  EXPECT_EQ(refusal("[{ by = \"nvlink\", gpus = [2] }]"),
            "a.toml:5:40: a connection needs at least two GPUs");
  EXPECT_EQ(refusal("[{ by = \"pcie\", gpus = [2, 3], links = 2 }]"),
            "a.toml:5:54: only nvlink has a number of links");
  EXPECT_EQ(refusal("[{ by = \"nvlink\", gpus = [0, 1, 2] }, { by = \"nvlink\", gpus = [1, 2] }]"),
            "a.toml:5:53: GPUs 1 and 2 are connected by nvlink twice (links = 2 means two links "
            "between them)");
  EXPECT_EQ(refusal("[{ by = \"socket\", gpus = [0, 1] }, { by = \"socket\", gpus = [1, 2] }]"),
            "a.toml:5:50: GPU 1 is in two sockets");
  EXPECT_EQ(refusal("[{ by = \"socket\", gpus = [0, 1] }]\nsockets = 2"),
            "a.toml:5:15: sockets are given twice: by sockets and by connections (leave out "
            "sockets if they differ in size)");
  EXPECT_EQ(refusal("[{ by = \"nvlink\", gpus = [2, 3] }]\n[[vc.group]]\nnodes = 1\ngpus = 2"),
            "a.toml:8:8: the connections include more than these 2 GPUs (add the connections of "
            "these nodes too, or connections = [])");
}

TEST(ReadCluster, KnowsWhatItsFirstGpusAreConnectedBy) {
  NodeClass make{.gpus = 8, .sockets = 2};
  make.connections = {{Between::nvlink, {2, 3}}, {Between::nvlink, {4, 5}}};
  NodeClass six = make;
  EXPECT_EQ(
      told_connections({.gpus = 4, .sockets = 2, .connections = {{Between::nvlink, {0, 1}, 4}}}),
      (std::vector<Connection>{
          {Between::socket, {0, 1}}, {Between::socket, {2, 3}}, {Between::nvlink, {0, 1}, 4}}));
  set_gpus(six, 6);
  EXPECT_EQ(six.sockets, 1);
  EXPECT_EQ(six.connections, (std::vector<Connection>{{Between::nvlink, {2, 3}},
                                                      {Between::nvlink, {4, 5}},
                                                      {Between::socket, {0, 1, 2, 3}},
                                                      {Between::socket, {4, 5}}}));
  NodeClass three = six;
  set_gpus(three, 3);
  EXPECT_EQ(three, (NodeClass{.gpus = 3}));
  NodeClass same = make;
  set_gpus(same, 8);
  EXPECT_EQ(same, make);
}

}  // namespace
}  // namespace almanac::cluster
