// SPDX-License-Identifier: Apache-2.0
#include "site/read.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site/read_config.h"
#include "support/shared_data.h"
#include "support/temporary_folder.h"

namespace almanac::site {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

class GoldenSite : public testing::Test {
 protected:
  /// The site of a recorded scenario ("p07_limits"); nothing where the data is absent.
  std::optional<Site> read(const std::string& scenario) {
    const auto path = shared_path("golden/slurm/" + scenario);
    if (!path) return std::nullopt;
    auto made = read_site(*path);
    EXPECT_TRUE(made) << to_string(made.error());
    if (!made) return std::nullopt;
    return std::move(*made);
  }
};

TresCounts of(const Site& site, std::string_view name, std::int64_t count) {
  return {{site.find_tres(name).value(), count}};
}

TEST_F(GoldenSite, EveryScenarioIsReadWithoutUnknownSettings) {
  const auto root = shared_path("golden/slurm");
  if (!root) GTEST_SKIP() << "golden/slurm is absent";
  std::size_t read_scenarios = 0;
  for (const auto& each : fs::directory_iterator(*root)) {
    if (!fs::exists(each.path() / "scontrol_config.txt")) continue;
    const auto site = read_site(each.path().string());
    ASSERT_TRUE(site) << to_string(site.error());
    ++read_scenarios;
    EXPECT_EQ(site->config.release, 2205);
    EXPECT_EQ(site->nodes.size(), 8U);
    EXPECT_EQ(site->total(kNode), 8);
    EXPECT_EQ(site->total(*site->find_tres("gres/gpu")), 48);
    EXPECT_EQ(site->total(*site->find_tres("gres/gpu:a100")), 16);
    EXPECT_FALSE(site->partitions.empty());
    EXPECT_FALSE(site->qos.empty());
    EXPECT_FALSE(site->associations.empty());
    EXPECT_TRUE(site->diagnostics.has_value());
    // Only the files of other kinds are not read.
    EXPECT_THAT(site->unknown, ElementsAre(testing::MatchesRegex("not read: [0-9]+ files? of .*")));
    EXPECT_THAT(site->assumed, testing::AnyOf(IsEmpty(), ElementsAre(HasSubstr("usage"))));
  }
  EXPECT_GE(read_scenarios, 14U);
}

TEST_F(GoldenSite, TheControllersSettingsAreThoseShown) {
  const auto site = read("p01_fairtree_all_factors");
  if (!site) GTEST_SKIP() << "golden/slurm is absent";
  const PrioritySettings& priority = site->config.priority;
  EXPECT_EQ(priority.type, PriorityType::multifactor);
  EXPECT_EQ(priority.weight_age, 1000U);
  EXPECT_EQ(priority.weight_fair_share, 10'000U);
  EXPECT_EQ(priority.weight_assoc, 700U);
  EXPECT_EQ(priority.max_age, 10min);
  EXPECT_EQ(priority.decay_half_life, 5min);
  EXPECT_EQ(priority.calc_period, 1min);
  EXPECT_TRUE(priority.is_fair_tree());
  EXPECT_THAT(priority.weight_tres, ElementsAre(TresWeight{kCpu, 500}, TresWeight{kMemory, 300},
                                                TresWeight{*site->find_tres("gres/gpu"), 2500}));
  EXPECT_EQ(site->config.scheduler.bf_interval, 5s);
  EXPECT_EQ(site->config.scheduler.bf_max_time, 5s);
  EXPECT_EQ(site->config.scheduler.bf_resolution, 1s);
  EXPECT_EQ(site->config.scheduler.default_queue_depth, 100);
  EXPECT_EQ(site->config.cred_expire, 10s);
  EXPECT_EQ(site->config.kill_wait, 2s);
  EXPECT_TRUE(site->config.enforced.limits);
  EXPECT_FALSE(site->config.enforced.safe);
  EXPECT_EQ(site->config.select.consumable, Consumable::core);
  EXPECT_TRUE(site->config.select.memory);
  EXPECT_EQ(site->config.job_defaults.memory_per_cpu_mb, 500);
  EXPECT_THAT(site->licenses, ElementsAre(License{.name = "matlab", .total = 4}));
}

TEST_F(GoldenSite, NodesHaveTheirShapeTypesAndWeights) {
  const auto site = read("p14_threads_tasks");
  if (!site) GTEST_SKIP() << "golden/slurm is absent";
  const Node& n05 = site->nodes[4];
  EXPECT_EQ(n05.name, "n05");
  EXPECT_EQ(n05.cpus, 64);
  EXPECT_EQ(n05.sockets, 2);
  EXPECT_EQ(n05.cores_per_socket, 16);
  EXPECT_EQ(n05.threads_per_core, 2);
  EXPECT_EQ(n05.memory_mb, 128'000);
  EXPECT_EQ(n05.weight, 20U);
  EXPECT_EQ(n05.count("gpu", "v100"), 8);
  EXPECT_THAT(n05.features, ElementsAre("v100"));
  EXPECT_FALSE(n05.state.is_out());
  EXPECT_NE(n05.config_record, site->nodes[0].config_record);
  EXPECT_EQ(site->nodes[7].config_record, n05.config_record);
}

TEST_F(GoldenSite, PartitionsHaveTheirTiersLimitsAndWeights) {
  const auto site = read("p06_partitions");
  if (!site) GTEST_SKIP() << "golden/slurm is absent";
  const Partition& urgent = *site->find_partition("urgent");
  EXPECT_EQ(urgent.priority_tier, 10);
  EXPECT_EQ(urgent.priority_job_factor, 1);
  EXPECT_EQ(urgent.nodes.size(), 4U);
  const Partition& small = *site->find_partition("small");
  EXPECT_EQ(small.max_nodes, 1);
  EXPECT_EQ(small.max_time, 1min);
  EXPECT_EQ(small.default_time, kNoDuration);
  EXPECT_EQ(site->find_partition("whole")->oversubscribe, OverSubscribe::exclusive);
  const Partition& main = *site->default_partition();
  EXPECT_EQ(main.name, "main");
  EXPECT_EQ(main.max_time, 1h);
  EXPECT_EQ(main.default_time, 2min);
  EXPECT_EQ(main.max_nodes, kNoLimit);
}

TEST_F(GoldenSite, BillingWeightsOfMemoryAreForEachMegabyte) {
  const auto site = read("p07_limits");
  if (!site) GTEST_SKIP() << "golden/slurm is absent";
  EXPECT_THAT(site->default_partition()->billing_weights,
              ElementsAre(TresWeight{kCpu, 1.0}, TresWeight{kMemory, 0.25 / 1024},
                          TresWeight{*site->find_tres("gres/gpu"), 4.0}));
}

TEST_F(GoldenSite, QosHaveTheirLimits) {
  const auto site = read("p07_limits");
  if (!site) GTEST_SKIP() << "golden/slurm is absent";
  EXPECT_EQ(site->find_qos("high")->priority, 1000U);
  const Qos& q1 = *site->find_qos("q1");
  EXPECT_EQ(q1.per_user.tres, of(*site, "gres/gpu", 6));
  EXPECT_EQ(q1.per_user.jobs, 2);
  const Qos& q2 = *site->find_qos("q2");
  EXPECT_EQ(q2.group.tres, of(*site, "gres/gpu", 8));
  EXPECT_EQ(q2.job.tres, of(*site, "cpu", 16));
  const Qos& q3 = *site->find_qos("q3");
  EXPECT_EQ(q3.group.tres_run_minutes, of(*site, "cpu", 40));
  EXPECT_EQ(q3.job.wall, 5min);
  const Qos& q4 = *site->find_qos("q4");
  EXPECT_TRUE(q4.flags.deny_on_limit);
  EXPECT_EQ(q4.per_user.submit_jobs, 3);
  EXPECT_EQ(q4.per_account.tres, of(*site, "cpu", 20));
  const Qos& q5 = *site->find_qos("q5");
  EXPECT_EQ(q5.group.jobs, 2);
  EXPECT_EQ(q5.min_tres, of(*site, "cpu", 2));
  EXPECT_TRUE(site->find_qos("q6")->flags.no_decay);
}

TEST_F(GoldenSite, AssociationsAreATreeInSlurmsOrder) {
  const auto site = read("p02_classic_fairshare");
  if (!site) GTEST_SKIP() << "golden/slurm is absent";
  std::vector<std::string> names;
  for (const Association& each : site->associations) {
    names.push_back(each.account + "/" + each.user);
  }
  EXPECT_THAT(names, ElementsAre("root/", "bio/", "bio/u1", "bio/u6", "bio/u5", "phys/", "phys/u4",
                                 "phys/u3", "chem/", "organic/", "organic/u8", "organic/u7",
                                 "chem/root", "chem/u2", "chem/u1", "root/root"));
  const auto at = site->find_association("organic", "u8", "main");
  const Association& u8 = site->associations.at(static_cast<std::size_t>(at));
  EXPECT_EQ(u8.shares, Association::kParent);
  const Association& organic = site->associations.at(static_cast<std::size_t>(u8.parent));
  EXPECT_EQ(organic.shares, 3);
  EXPECT_EQ(site->associations.at(static_cast<std::size_t>(organic.parent)).account, "chem");
  EXPECT_FALSE(site->config.priority.is_fair_tree());
  EXPECT_EQ(site->config.priority.dampening, 3U);
}

TEST_F(GoldenSite, PreemptionIsByQos) {
  const auto site = read("p08_preempt_qos_requeue");
  if (!site) GTEST_SKIP() << "golden/slurm is absent";
  EXPECT_EQ(site->config.preempt.type, PreemptType::qos);
  EXPECT_EQ(site->config.preempt.mode, PreemptMode::requeue);
  EXPECT_TRUE(site->config.preempt.youngest_first);
  EXPECT_THAT(site->find_qos("top")->preempts, ElementsAre("kill", "normal", "safe", "scav"));
  EXPECT_EQ(site->find_qos("kill")->preempt_mode, PreemptMode::cancel);
  EXPECT_EQ(site->find_qos("safe")->preempt_exempt_time, 30s);
}

TEST_F(GoldenSite, SwitchesAreATree) {
  const auto site = read("p13_topology_tree");
  if (!site) GTEST_SKIP() << "golden/slurm is absent";
  EXPECT_EQ(site->config.topology.type, TopologyType::tree);
  ASSERT_EQ(site->switches.size(), 7U);
  EXPECT_THAT(site->switches[1].nodes, ElementsAre(2, 3, 4));
  EXPECT_EQ(site->switches[4].name, "left");
  EXPECT_EQ(site->switches[4].level, 1);
  EXPECT_THAT(site->switches[4].below, ElementsAre(0, 1));
  EXPECT_EQ(site->switches[6].level, 2);
  EXPECT_EQ(site->switches[6].nodes.size(), 8U);
  EXPECT_EQ(site->switches[6].parent, -1);
  EXPECT_EQ(site->switches[3].parent, 5);
}

class SiteFolder : public testing::Test {
 protected:
  Site read(const std::string& path) {
    auto made = read_site(path);
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? std::move(*made) : Site{};
  }
  /// The error from the file's name on.
  std::string error(const std::string& name) {
    const auto made = read_site(folder_ / name);
    if (made) return "no error";
    const std::string all = to_string(made.error());
    return all.substr(std::min(all.find(name), all.size()));
  }
  TemporaryFolder folder_;
};

constexpr const char* kConf =
    "ClusterName=x\nSelectType=select/cons_tres\nPriorityType=priority/multifactor\n"
    "priorityweightage = 100\n"
    "AccountingStorageTRES=gres/gpu\n"
    "NodeName=DEFAULT CPUs=64 RealMemory=524288 ThreadsPerCore=2 CoresPerSocket=16\n"
    "NodeName=g[001-003] Gres=gpu:8 Feature=big,new\n"
    "Include cpu.conf\n"
    "NodeName=f[1-2] State=FUTURE\n"
    "DownNodes=g003 State=DRAIN Reason=\"bad fan\"\n"
    "NodeSet=bigs Feature=big\n"
    "PartitionName=DEFAULT MaxTime=2-0 TRESBillingWeights=CPU=1,GRES/gpu=8\n"
    "PartitionName=gpu Nodes=bigs Default=YES PriorityTier=5 MaxTime=1-0\n"
    "PartitionName=all \\\n  Nodes=ALL OverSubscribe=FORCE:2 DenyAccounts=guests\n";

TEST_F(SiteFolder, ReadsSlurmConfWithIncludesDefaultsAndDevices) {
  folder_.write("cpu.conf", "NodeName=c1 CPUs=32 ThreadsPerCore=1 # no GPUs\n");
  folder_.write("gres.conf",
                "NodeName=g[001-003] Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores=0-15\n"
                "NodeName=g[001-003] Name=gpu Type=h100 File=/dev/nvidia[4-7] Cores=16-31\n");
  const Site site = read(folder_.write("slurm.conf", kConf));
  ASSERT_EQ(site.nodes.size(), 4U);
  EXPECT_EQ(site.nodes[0].sockets, 2);
  EXPECT_EQ(site.nodes[0].count("gpu"), 8);
  EXPECT_EQ(site.nodes[0].count("gpu", "h100"), 4);
  EXPECT_EQ(site.nodes[0].gres.at(1).cores.front(), 16);
  EXPECT_TRUE(site.nodes[2].state.drain);
  EXPECT_EQ(site.nodes[2].state.reason, "bad fan");
  EXPECT_EQ(site.nodes[3].name, "c1");
  EXPECT_EQ(site.config.priority.weight_age, 100U);
  EXPECT_THAT(site.partitions.at(0).nodes, ElementsAre(0, 1, 2));
  EXPECT_EQ(site.partitions[0].max_time, 24h);
  EXPECT_EQ(site.partitions[0].priority_tier, 5);
  EXPECT_EQ(site.partitions[1].max_time, 48h);
  EXPECT_EQ(site.partitions[1].nodes.size(), 4U);
  EXPECT_EQ(site.partitions[1].rows, 2);
  EXPECT_THAT(site.partitions[1].deny_accounts, ElementsAre("guests"));
  EXPECT_THAT(site.assumed, Contains(HasSubstr("the release of Slurm is unknown")));
}

TEST_F(SiteFolder, SaysWhichNodesOfPartitionsAreUnknown) {
  folder_.write("nodes.txt",
                "NodeName=g1 Arch=x86_64 CoresPerSocket=32 CPUTot=64 Gres=gpu:8 RealMemory=1000 "
                "Sockets=2 State=IDLE ThreadsPerCore=1\n");
  folder_.write("partitions.txt",
                "PartitionName=gpu Default=YES Nodes=g1 State=UP\n"
                "PartitionName=big Default=NO Nodes=x[1-4] State=UP\n");
  const Site site = read(folder_ / ".");
  ASSERT_EQ(site.partitions.size(), 2U);
  EXPECT_TRUE(site.partitions[1].nodes.empty());
  EXPECT_THAT(site.notes,
              Contains(HasSubstr("left out 4 nodes of partitions that the list of nodes "
                                 "does not have, for example x1")));
}

TEST_F(SiteFolder, ReadsTheOutputOfCommandsByItsContent) {
  folder_.write(
      "a.txt",
      "Configuration data as of 2026-11-26T21:55:04\n"
      "AccountingStorageTRES   = cpu,mem,energy,node,billing,fs/disk,vmem,pages,gres/gpu\n"
      "PriorityType            = priority/multifactor\n"
      "PriorityWeightFairShare = 500\n"
      "PriorityDecayHalfLife   = 14-00:00:00\n"
      "SchedulerParameters     = bf_continue,bf_window=2880,bf_magic=3\n"
      "SelectType              = select/cons_tres\n"
      "SLURM_VERSION           = 24.11.3\n");
  folder_.write("b.txt",
                "NodeName=g1 Arch=x86_64 CoresPerSocket=32 CPUAlloc=0 CPUEfctv=62 CPUTot=64 "
                "Gres=gpu:h100:8(S:0-1) RealMemory=1000 Sockets=2 State=IDLE+DRAIN "
                "ThreadsPerCore=1 Weight=7 Reason=bad fan [ann@2026-11-26T21:55:04]\n");
  folder_.write(
      "c.txt",
      "ReservationName=maint StartTime=2026-11-26T22:00:00 EndTime=2026-11-27T00:00:00\n"
      "   Nodes=g1 NodeCnt=1 CoreCnt=64 Features=(null) PartitionName=(null) "
      "Flags=MAINT,DAILY,SPEC_NODES\n   Users=ann,-bob Accounts=(null) Licenses=(null)\n");
  folder_.write("d.txt",
                "   Account       User     Share   ParentName   MaxJobs         QOS\n"
                "---------- ---------- --------- ------------ --------- -----------\n"
                "      root                    1                             normal\n"
                "       lab                    3         root        10 high,normal\n"
                "       lab        ann    parent                                   \n");
  folder_.write("e.txt",
                "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|\n"
                "root|||0.0|900||1.0||\n"
                " lab||3|0.75|800|0.9|0.9||\n"
                "  lab|ann|parent|0.75|700|0.8|0.8|0.5|\n");
  folder_.write("f.txt",
                "*******\nsdiag output at Thu Nov 26 21:44:26 2026 (1795729466)\n"
                "Data since      Thu Nov 26 21:40:10 2026 (1795729210)\n*******\n");
  const Site site = read(folder_ / ".");
  EXPECT_EQ(site.config.release, 2411);
  EXPECT_EQ(site.config.priority.decay_half_life, std::chrono::days(14));
  EXPECT_TRUE(site.config.scheduler.bf_continue);
  EXPECT_EQ(site.config.scheduler.bf_window, 48h);
  EXPECT_THAT(site.unknown,
              Contains(HasSubstr("a.txt:6: SchedulerParameters: bf_magic=3 is not modelled")));
  EXPECT_EQ(site.nodes.at(0).effective_cpus, 62);
  EXPECT_THAT(site.nodes[0].gres.at(0).sockets, ElementsAre(0, 1));
  EXPECT_EQ(site.nodes[0].state.reason, "bad fan");
  EXPECT_EQ(site.nodes[0].state.by, "ann");
  EXPECT_THAT(site.assumed, Contains(HasSubstr("no file names the partitions")));
  const Reservation& maint = site.reservations.at(0);
  EXPECT_TRUE(maint.flags.maintenance);
  EXPECT_EQ(maint.flags.repeats, 24h);
  EXPECT_EQ(maint.end - maint.start, 2h);
  EXPECT_THAT(maint.users, ElementsAre("ann", "-bob"));
  ASSERT_EQ(site.associations.size(), 3U);
  const Association& ann = site.associations[2];
  EXPECT_EQ(ann.shares, Association::kParent);
  EXPECT_EQ(ann.max_jobs, 10);
  EXPECT_THAT(ann.qos, ElementsAre("high", "normal"));
  EXPECT_EQ(ann.usage.raw, 700);
  EXPECT_EQ(site.usage_at, Time(std::chrono::seconds(1795729466))) << "of sdiag";
  EXPECT_EQ(ann.parent, 1);
}

TEST_F(SiteFolder, NotesWhatSlurmWouldNotTakeWithItsLine) {
  folder_.write("slurm.conf",
                "ClusterName=little\n"
                "PriorityWeigthAge=1000\n"
                "SchedulerParameters=bf_resolution=0,bf_max_job_test=200,bf_window=50000\n"
                "NodeName=n1 CPUs=4 Gres=gpu:2\nPartitionName=main Nodes=n1\n");
  const Site site = read(folder_ / ".");
  EXPECT_THAT(site.unknown,
              Contains(HasSubstr("slurm.conf:2: PriorityWeigthAge is no setting of Slurm: did you "
                                 "mean PriorityWeightAge?")));
  EXPECT_THAT(site.unknown,
              Contains(HasSubstr("slurm.conf:3: SchedulerParameters: bf_resolution=0 is not from 1 "
                                 "to 3600, so the default counts")));
  EXPECT_THAT(site.unknown, Contains(HasSubstr("bf_window=50000 is not from 1 to 43200")));
  EXPECT_EQ(site.config.scheduler.bf_resolution, 60s);
  EXPECT_EQ(site.config.scheduler.bf_window, 24h);
  EXPECT_EQ(site.config.scheduler.bf_max_job_test, 200);
}

TEST_F(SiteFolder, NamesTheLineOfAValueThatCannotBeRight) {
  folder_.write("slurm.conf",
                "ClusterName=little\nNodeName=n1 CPUs=4 Gres=gpu:2\n"
                "PartitionName=main Nodes=n1\nPriorityWeightAge=many\n");
  const auto site = read_site(folder_ / ".");
  ASSERT_FALSE(site);
  EXPECT_EQ(site.error().where.line, 4);
}

TEST_F(SiteFolder, ReadsTheJsonOfScontrol) {
  folder_.write("n.json",
                R"j({"meta": {}, "nodes": [{"name": "n1", "cpus": 64, "sockets": 2, "cores": 32,
                "threads": 1, "real_memory": 524288, "weight": 3, "gres": "gpu:a100:8(S:0-1)",
                "features": ["ib"], "state": ["DOWN", "DRAIN"], "reason": "gone",
                "reason_set_by_user": "root", "reason_changed_at":
                {"set": true, "infinite": false, "number": 1795730041}}]})j");
  folder_.write("p.json",
                R"j({"partitions": [{"name": "gpu", "nodes": {"configured": "n1"},
                "maximums": {"time": {"set": true, "infinite": false, "number": 2880},
                "nodes": {"set": false, "infinite": true, "number": 0},
                "oversubscribe": {"jobs": 4, "flags": ["force"]}},
                "qos": {"allowed": "a,b", "deny": "", "assigned": "part"},
                "partition": {"state": ["DRAIN"]}, "priority": {"job_factor": 9, "tier": 10}}]})j");
  const Site site = read(folder_ / ".");
  const Node& node = site.nodes.at(0);
  EXPECT_EQ(node.cores_per_socket, 32);
  EXPECT_TRUE(node.state.down);
  EXPECT_TRUE(node.state.drain);
  EXPECT_EQ(node.state.by, "root");
  EXPECT_EQ(seconds(node.state.since), 1795730041);
  const Partition& gpu = site.partitions.at(0);
  EXPECT_EQ(gpu.max_time, 48h);
  EXPECT_EQ(gpu.max_nodes, kNoLimit);
  EXPECT_EQ(gpu.rows, 4);
  EXPECT_EQ(gpu.qos, "part");
  EXPECT_THAT(gpu.allow_qos, ElementsAre("a", "b"));
  EXPECT_EQ(gpu.state, PartitionState::drain);
  EXPECT_EQ(gpu.priority_tier, 10);
}

TEST_F(SiteFolder, NotesNameTheFileThatHasTheSetting) {
  folder_.write("config.txt",
                "Configuration data as of 2026-11-26T21:44:26\n"
                "ClusterName             = little\n"
                "SLURM_VERSION           = 23.11.4\n");
  folder_.write("slurm.conf", "ClusterName=little\nPriorityWeigthAge=1000\nNodeName=n1\n");
  const auto site = read_site(folder_ / "");
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_THAT(
      site->unknown,
      Contains(testing::AllOf(HasSubstr("slurm.conf:2: PriorityWeigthAge is no setting of Slurm"),
                              HasSubstr("did you mean PriorityWeightAge?"))));
}

/// slurmctld reads weights as 32-bit numbers.
TEST_F(SiteFolder, RefusesWeightsThatSlurmDoesNotTake) {
  for (const char* const value : {"-1", "-5", "4294967296", "0.5", "5M", "4194304K"}) {
    folder_.write("slurm.conf", std::string("NodeName=n1\nPriorityWeightQOS=") + value + "\n");
    EXPECT_THAT(error("slurm.conf"), HasSubstr("slurm.conf:2: PriorityWeightQOS must be a whole "
                                               "number from 0 to 4294967295"));
  }
  folder_.write("slurm.conf", "NodeName=n1\nPriorityWeightQOS=5K\n");
  EXPECT_EQ(read(folder_ / "slurm.conf").config.priority.weight_qos, 5120U);
  folder_.write("slurm.conf", "NodeName=n1\nPriorityWeightQOS=UNLIMITED\n");
  EXPECT_EQ(read(folder_ / "slurm.conf").config.priority.weight_qos, 4294967295U);
}

TEST_F(SiteFolder, ErrorsNameFileLineAndWhatWasExpected) {
  folder_.write("slurm.conf", "NodeName=n1\nPartitionName=a Nodes=n1 MaxTime=soon\n");
  EXPECT_THAT(error("slurm.conf"),
              HasSubstr("slurm.conf:2: MaxTime must be a time such as 1-12:00:00, 30 or UNLIMITED, "
                        "found \"soon\""));
  folder_.write("slurm.conf", "NodeName=n1\nPartitionName=a Nodes=n2\n");
  EXPECT_THAT(
      error("slurm.conf"),
      HasSubstr("slurm.conf:2: Nodes must be NodeNames or NodeSets, found n2 (did you mean n1?)"));
  folder_.write("slurm.conf", "NodeName=n1\nSchedulerParameters=bf_interval=often\n");
  EXPECT_THAT(error("slurm.conf"), HasSubstr("bf_interval=NUMBER"));
  folder_.write("slurm.conf", "ClusterName=x\n");
  EXPECT_THAT(error("slurm.conf"), HasSubstr("no file names the nodes"));
}

TEST_F(SiteFolder, ChangedSettingsAreReadLikeThoseOfTheFile) {
  folder_.write("cpu.conf", "\n");
  const Site site = read(folder_.write("slurm.conf", kConf));
  const auto changed = with_settings(
      site, {{"PriorityWeightTRES", "GRES/gpu=20"}, {"SchedulerParameters", "bf_max_job_test=50"}});
  ASSERT_TRUE(changed) << to_string(changed.error());
  EXPECT_EQ(changed->priority.weight_age, 100U);
  EXPECT_THAT(changed->priority.weight_tres,
              ElementsAre(TresWeight{*site.find_tres("gres/gpu"), 20}));
  EXPECT_EQ(changed->scheduler.bf_max_job_test, 50);
  EXPECT_EQ(changed->scheduler.bf_node_space_size, 50);
  EXPECT_FALSE(with_settings(site, {{"PriorityWeightAge", "much"}}));
}

TEST(ReadSite, NotesAFileWithTwoConfigurations) {
  const TemporaryFolder folder;
  folder.write("slurm.conf", "ClusterName=x\nNodeName=n1 CPUs=8 Gres=gpu:4\nPartitionName=p\n");
  folder.write("config.txt",
               "Configuration data as of 2026-11-26T21:44:26\nPriorityWeightAge = 10\n"
               "Configuration data as of 2026-11-27T21:44:26\nPriorityWeightAge = 20\n");
  const auto site = read_site(folder / "");
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_EQ(site->config.priority.weight_age, 20U);
  EXPECT_THAT(site->unknown, Contains(HasSubstr("more than one output of scontrol show config")));
}

TEST(ReadSite, NotesASecondFileOfTheConfiguration) {
  const TemporaryFolder folder;
  folder.write("slurm.conf", "ClusterName=x\nNodeName=n1 CPUs=8 Gres=gpu:4\nPartitionName=p\n");
  folder.write("config.txt",
               "Configuration data as of 2026-11-26T21:44:26\nPriorityWeightAge = 10\n");
  folder.write("older.txt",
               "Configuration data as of 2026-11-25T21:44:26\nPriorityWeightAge = 20\n");
  const auto site = read_site(folder / "");
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_EQ(site->config.priority.weight_age, 10U);
  EXPECT_THAT(site->unknown,
              Contains(HasSubstr("older.txt: a second output of scontrol show config, which is not "
                                 "read; ")));
}

TEST(ReadSite, RefusesFilesThatAreCutOrNotWhatTheirNamesSay) {
  const TemporaryFolder folder;
  folder.write("slurm.conf", "ClusterName=x\nNodeName=n1 CPUs=8 Gres=gpu:4\nPartitionName=p\n");
  folder.write("tres.txt", "<html>not found</html>\n");
  auto made = read_site(folder / "");
  ASSERT_FALSE(made);
  EXPECT_THAT(to_string(made.error()),
              HasSubstr("tres.txt:1: the file is not output of the command that it is named for"));
  folder.write("tres.txt", "");
  EXPECT_TRUE(read_site(folder / "")) << "the command failed";
  folder.write("slurm.conf", "ClusterName=x\n");
  made = read_site(folder / "");
  ASSERT_FALSE(made);
  EXPECT_THAT(to_string(made.error()), HasSubstr("no file names the nodes"));
  EXPECT_THAT(to_string(made.error()), HasSubstr("empty: tres.txt"));
  folder.write("slurm.conf", "ClusterName=x\nNodeName=n1 CPUs=8 Gres=gpu:4\nPartitionName=p\n");
  folder.write("qos.txt", "Name|Priority|UsageFactor\nnormal|0|1.0\nhigh|1\n");
  made = read_site(folder / "");
  ASSERT_FALSE(made);
  EXPECT_THAT(to_string(made.error()), HasSubstr("qos.txt:3: a row must have 3 fields"));
}

}  // namespace
}  // namespace almanac::site
