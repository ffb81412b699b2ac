// SPDX-License-Identifier: Apache-2.0

/// \file
/// A small site as each release of Slurm prints it: two nodes of four GPUs, one of them drained, a
/// partition and a reservation. The site that is read must be the same.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site/read.h"
#include "support/temporary_folder.h"

namespace almanac::site {
namespace {

using testing::ElementsAre;

/// What one release prints.
struct Printed {
  const char* release;
  const char* config;     ///< Lines behind those of every release.
  const char* node;       ///< More of each node.
  const char* partition;  ///< More of the partition.
};

constexpr Printed kTexts[] = {
    {"20.11.9", "PriorityFlags           = \nPreemptMode             = OFF\n",
     " OwnerId=N/A MCS_label=N/A LastBusyTime=Unknown CurrentWatts=n/s AveWatts=n/s\n"
     "   ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s",
     " PreemptMode=OFF JobDefaults=(null) DefMemPerNode=UNLIMITED"},
    {"21.08.8", "PriorityFlags           = \nBcastExclude            = /lib,/usr/lib\n",
     " CPUEfctv=64 LastBusyTime=2026-11-26T21:55:04 CurrentWatts=0 AveWatts=0\n"
     "   ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s Comment=(null)",
     " ResumeTimeout=GLOBAL SuspendTimeout=GLOBAL SuspendTime=GLOBAL PowerDownOnIdle=NO"},
    {"22.05.8", "PriorityFlags           = \nPrioritySiteFactorPlugin = (null)\n",
     " CPUEfctv=64 LastBusyTime=2026-11-26T21:55:04 CapWatts=n/a CurrentWatts=0 AveWatts=0",
     " ResumeTimeout=GLOBAL SuspendTimeout=GLOBAL SuspendTime=GLOBAL PowerDownOnIdle=NO"},
    {"23.02.7", "PriorityFlags           = \nPriorityParameters      = (null)\n",
     " CPUEfctv=64 LastBusyTime=2026-11-26T21:55:04 ResumeAfterTime=None\n   CapWatts=n/a "
     "Extra=rack=7",
     " MaxCPUsPerSocket=UNLIMITED PowerDownOnIdle=NO"},
    {"23.11.10", "PreemptParameters       = (null)\nPriorityFlags           = \n",
     " CPUEfctv=64 LastBusyTime=2026-11-26T21:55:04 ResumeAfterTime=None\n"
     "   CurrentWatts=0 AveWatts=0 InstanceId=i-1 InstanceType=big",
     " MaxCPUsPerSocket=UNLIMITED PowerDownOnIdle=NO"},
    {"24.05.4", "PriorityFlags           = \nSlurmctldParameters     = (null)\n",
     " CPUEfctv=64 GresDrain=N/A GresUsed=gpu:a100:0(IDX:N/A)\n   ResumeAfterTime=None",
     " MaxCPUsPerSocket=UNLIMITED ExclusiveTopo=NO PowerDownOnIdle=NO"},
    {"24.11.5", "PriorityFlags           = \nHashPlugin              = hash/k12\n",
     " CPUEfctv=64 ResumeAfterTime=None Owner=N/A\n   Reservation=(null) Gpu=N/A",
     " MaxCPUsPerSocket=UNLIMITED ExclusiveTopo=NO PowerDownOnIdle=NO"},
    {"25.05.3", "PriorityFlags           = \nTopologyPlugin          = topology/default\n",
     " CPUEfctv=64 ResumeAfterTime=None Topology=default:s1 ParamsCoresPerGPU=N/A",
     " MaxCPUsPerSocket=UNLIMITED ExclusiveTopo=NO PowerDownOnIdle=NO Topology=default"},
    {"25.11.0", "PriorityFlags           = \nTopologyPlugin          = topology/default\n",
     " CPUEfctv=64 ResumeAfterTime=None Topology=default:s1 RestrictedCoresPerGPU=N/A",
     " MaxCPUsPerSocket=UNLIMITED ExclusiveTopo=NO PowerDownOnIdle=NO Topology=default"},
};

void write_text(const TemporaryFolder& folder, const Printed& made) {
  folder.write("config.txt",
               fmt::format("Configuration data as of 2026-11-26T21:55:04\n"
                           "AccountingStorageTRES   = cpu,mem,node,billing,gres/gpu\n"
                           "PriorityType            = priority/multifactor\n"
                           "PriorityWeightAge       = 1000\n"
                           "PriorityDecayHalfLife   = 7-00:00:00\n{}"
                           "SchedulerParameters     = bf_max_job_test=50,bf_interval=60\n"
                           "SchedulerType           = sched/backfill\n"
                           "SelectType              = select/cons_tres\n"
                           "SelectTypeParameters    = CR_CORE_MEMORY\n"
                           "SLURM_VERSION           = {}\n\n"
                           "Cgroup Support Configuration:\nConstrainCores          = yes\n\n"
                           "Slurmctld(primary) at head is UP\n",
                           made.config, made.release));
  std::string nodes;
  for (const char* const name : {"g1", "g2"}) {
    const bool is_out = std::string_view(name) == "g2";
    nodes += fmt::format(
        "NodeName={0} Arch=x86_64 CoresPerSocket=32 \n"
        "   CPUAlloc=0 CPUTot=64 CPULoad=0.02\n   AvailableFeatures=ib\n   ActiveFeatures=ib\n"
        "   Gres=gpu:a100:4(S:0-1)\n   NodeAddr={0} NodeHostName={0} Version={1}\n"
        "   OS=Linux 5.14.0 #1 SMP Thu Nov 1 12:00:00 UTC 2026 \n"
        "   RealMemory=512000 AllocMem=0 FreeMem=400000 Sockets=2 Boards=1\n"
        "   State={2} ThreadsPerCore=1 TmpDisk=0 Weight=5\n   Partitions=gpu \n"
        "   BootTime=2026-11-01T08:00:00 SlurmdStartTime=2026-11-01T08:01:00\n  {3}\n"
        "   CfgTRES=cpu=64,mem=500G,billing=64,gres/gpu=4\n   AllocTRES=\n{4}\n",
        name, made.release, is_out ? "IDLE+DRAIN" : "IDLE", made.node,
        is_out ? "   Reason=bad fan [root@2026-11-20T10:00:00]\n" : "");
  }
  folder.write("nodes.txt", nodes);
  folder.write(
      "partitions.txt",
      fmt::format("PartitionName=gpu\n   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL\n"
                  "   AllocNodes=ALL Default=YES QoS=N/A\n   DefaultTime=01:00:00 "
                  "DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO\n"
                  "   MaxNodes=2 MaxTime=2-00:00:00 MinNodes=0 LLN=NO "
                  "MaxCPUsPerNode=UNLIMITED\n   Nodes=g[1-2]\n   PriorityJobFactor=1 "
                  "PriorityTier=3 RootOnly=NO ReqResv=NO OverSubscribe=EXCLUSIVE\n"
                  "   State=UP TotalCPUs=128 TotalNodes=2 SelectTypeParameters=NONE\n  {}\n"
                  "   TRES=cpu=128,mem=1000G,node=2,billing=128,gres/gpu=8\n",
                  made.partition));
  folder.write("reservations.txt",
               "ReservationName=course StartTime=2026-12-01T08:00:00 EndTime=2026-12-01T18:00:00 "
               "Duration=10:00:00\n   Nodes=g1 NodeCnt=1 CoreCnt=64 Features=(null) "
               "PartitionName=gpu Flags=SPEC_NODES\n   TRES=cpu=64\n   Users=ann Groups=(null) "
               "Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null)\n"
               "   MaxStartDelay=(null)\n");
}

/// `sharing`: how jobs share nodes of the partition.
void expect_the_site(const Site& site, OverSubscribe sharing = OverSubscribe::exclusive) {
  ASSERT_EQ(site.nodes.size(), 2U);
  for (const Node& node : site.nodes) {
    EXPECT_EQ(node.cpus, 64);
    EXPECT_EQ(node.cores_per_socket, 32);
    EXPECT_EQ(node.memory_mb, 512'000);
    EXPECT_EQ(node.weight, 5U);
    EXPECT_EQ(node.count("gpu", "a100"), 4);
    EXPECT_THAT(node.gres.at(0).sockets, ElementsAre(0, 1));
    EXPECT_THAT(node.features, ElementsAre("ib"));
  }
  EXPECT_FALSE(site.nodes[0].state.drain);
  EXPECT_TRUE(site.nodes[1].state.drain);
  EXPECT_EQ(site.nodes[1].state.reason, "bad fan");
  EXPECT_EQ(site.nodes[1].state.by, "root");
  ASSERT_EQ(site.partitions.size(), 1U);
  const Partition& gpu = site.partitions[0];
  EXPECT_TRUE(gpu.is_default);
  EXPECT_THAT(gpu.nodes, ElementsAre(0, 1));
  EXPECT_EQ(gpu.max_time, 48h);
  EXPECT_EQ(gpu.default_time, 1h);
  EXPECT_EQ(gpu.max_nodes, 2);
  EXPECT_EQ(gpu.max_cpus_per_node, kNoLimit);
  EXPECT_EQ(gpu.priority_tier, 3);
  EXPECT_EQ(gpu.oversubscribe, sharing);
  EXPECT_FALSE(gpu.exclusive_user);
  EXPECT_FALSE(gpu.exclusive_topology);
  ASSERT_EQ(site.reservations.size(), 1U);
  EXPECT_EQ(site.reservations[0].name, "course");
  EXPECT_EQ(site.reservations[0].end - site.reservations[0].start, 10h);
  EXPECT_THAT(site.reservations[0].nodes, ElementsAre(0));
  EXPECT_THAT(site.reservations[0].users, ElementsAre("ann"));
}

class ReleaseText : public testing::TestWithParam<Printed> {};

TEST_P(ReleaseText, IsTheSameSite) {
  const TemporaryFolder folder;
  write_text(folder, GetParam());
  const auto site = read_site(folder / ".");
  ASSERT_TRUE(site) << to_string(site.error());
  expect_the_site(*site);
  EXPECT_EQ(site->config.scheduler.bf_max_job_test, 50);
  EXPECT_EQ(site->config.scheduler.bf_interval, 60s);
  EXPECT_EQ(site->config.priority.weight_age, 1000U);
  EXPECT_EQ(site->config.priority.decay_half_life, std::chrono::days(7));
  EXPECT_TRUE(site->config.select.memory);
  EXPECT_TRUE(site->unknown.empty()) << site->unknown.front();
}

INSTANTIATE_TEST_SUITE_P(Releases, ReleaseText, testing::ValuesIn(kTexts), [](const auto& each) {
  std::string name = each.param.release;
  std::erase(name, '.');
  return "Slurm" + name;
});

/// Shapes of scontrol --json: numbers alone, or with `set`; states as a word or as a list; flat or
/// nested partitions.
struct Plugin {
  const char* name;
  bool has_set_numbers;
  bool has_state_list;
  bool has_nested_partitions;
};

constexpr Plugin kPlugins[] = {{"v0_0_37", false, false, false}, {"v0_0_38", false, false, false},
                               {"v0_0_39", true, true, true},    {"v0_0_40", true, true, true},
                               {"v0_0_41", true, true, true},    {"v0_0_42", true, true, true},
                               {"v0_0_43", true, true, true},    {"v0_0_44", true, true, true}};

std::string number(const Plugin& plugin, std::int64_t value) {
  if (!plugin.has_set_numbers) return fmt::format("{}", value);
  return fmt::format(R"({{"set": true, "infinite": false, "number": {}}})", value);
}

std::string no_limit(const Plugin& plugin) {
  return plugin.has_set_numbers ? R"({"set": false, "infinite": true, "number": 0})" : "4294967295";
}

void write_json(const TemporaryFolder& folder, const Plugin& plugin) {
  std::string nodes;
  for (const char* const name : {"g1", "g2"}) {
    const bool is_out = std::string_view(name) == "g2";
    const std::string state =
        plugin.has_state_list ? (is_out ? R"("state": ["IDLE", "DRAIN"])" : R"("state": ["IDLE"])")
        : is_out              ? R"("state": "idle", "state_flags": ["DRAIN"])"
                              : R"("state": "idle", "state_flags": [])";
    const std::string features = plugin.has_state_list ? R"(["ib"])" : R"("ib")";
    nodes += fmt::format(
        R"j({}{{"name": "{}", "cpus": 64, "boards": 1, "sockets": 2, "cores": 32, "threads": 1,
        "real_memory": 512000, "weight": 5, "gres": "gpu:a100:4(S:0-1)", "gres_used": "",
        "features": {}, "active_features": {}, "partitions": ["gpu"], {},
        "reason": "{}", "reason_set_by_user": "{}", "reason_changed_at": {},
        "tres": "cpu=64,mem=500G,billing=64,gres/gpu=4"}})j",
        is_out ? "," : "", name, features, features, state, is_out ? "bad fan" : "",
        is_out ? "root" : "", number(plugin, is_out ? 1'795'730'041 : 0));
  }
  folder.write("n.json", fmt::format(R"({{"meta": {{"plugin": {{"data_parser": "data_parser/{}"}}}},
                                     "nodes": [{}], "errors": [], "warnings": []}})",
                                     plugin.name, nodes));
  const std::string partition =
      plugin.has_nested_partitions
          ? fmt::format(
                R"j({{"name": "gpu", "nodes": {{"configured": "g[1-2]", "total": 2}},
                "maximums": {{"cpus_per_node": {0}, "nodes": {1}, "time": {2},
                "oversubscribe": {{"jobs": 0, "flags": []}}}}, "defaults": {{"time": {3}}},
                "minimums": {{"nodes": 0}}, "priority": {{"job_factor": 1, "tier": 3}},
                "partition": {{"state": ["UP"]}}, "flags": ["DEFAULT"],
                "qos": {{"allowed": "", "deny": "", "assigned": ""}}}})j",
                no_limit(plugin), number(plugin, 2), number(plugin, 2880), number(plugin, 60))
          : fmt::format(
                R"j({{"name": "gpu", "nodes": "g[1-2]", "maximum_cpus_per_node": {0},
                "maximum_nodes_per_job": 2, "max_time_limit": 2880, "default_time_limit": 60,
                "priority_job_factor": 1, "priority_tier": 3, "state": "UP",
                "flags": ["default"]}})j",
                no_limit(plugin));
  folder.write("p.json",
               fmt::format(R"({{"meta": {{}}, "errors": [], "partitions": [{}]}})", partition));
  folder.write("r.json",
               fmt::format(R"j({{"meta": {{}}, "errors": [], "reservations": [{{"name": "course",
               "start_time": {}, "end_time": {}, "node_list": "g1", "node_count": 1,
               "partition": "gpu", "users": "ann", "accounts": "", "features": "", "licenses": "",
               "flags": ["SPEC_NODES"], "core_specializations": []}}]}})j",
                           number(plugin, 1'796'112'000), number(plugin, 1'796'148'000)));
}

class ReleaseJson : public testing::TestWithParam<Plugin> {};

TEST_P(ReleaseJson, IsTheSameSite) {
  const TemporaryFolder folder;
  write_json(folder, GetParam());
  const auto site = read_site(folder / ".");
  ASSERT_TRUE(site) << to_string(site.error());
  // The older plugins do not print OverSubscribe.
  expect_the_site(*site,
                  GetParam().has_nested_partitions ? OverSubscribe::exclusive : OverSubscribe::no);
}

INSTANTIATE_TEST_SUITE_P(Plugins, ReleaseJson, testing::ValuesIn(kPlugins),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace almanac::site
