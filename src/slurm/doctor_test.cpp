// SPDX-License-Identifier: Apache-2.0
#include "slurm/doctor.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

namespace almanac::slurm {
namespace {

struct Case {
  Site site;
  News news;
  Abilities can{.site_factor = true, .requeue = true, .power = true, .begins = true};
  std::string way = "gateway";

  Diagnosis examine() const { return diagnose(site, news, can, way); }
};

/// A site where all works.
Case good() {
  Case made;
  made.site = {.version = "22.05.8",
               .cluster = "c",
               .controller = "c1",
               .parameters = {{"PriorityType", "priority/multifactor"},
                              {"SelectType", "select/cons_tres"},
                              {"SchedulerType", "sched/backfill"},
                              {"SchedulerParameters", "bf_interval=5,sched_interval=5"},
                              {"AccountingStorageType", "accounting_storage/slurmdbd"},
                              {"AccountingStorageTRES", "cpu,mem,gres/gpu,gres/gpu:v100"},
                              {"AccountingStorageEnforce", "associations,limits,qos"},
                              {"JobSubmitPlugins", "almanac"},
                              {"SuspendProgram", "/x/suspend"},
                              {"ResumeProgram", "/x/resume"},
                              {"SuspendTime", "2592000 sec"},
                              {"ResumeTimeout", "600 sec"},
                              {"JobRequeue", "1"},
                              {"PreemptMode", "OFF"},
                              {"AuthInfo", "socket=/x,cred_expire=10"},
                              {"TaskPlugin", "task/cgroup,task/affinity"},
                              {"ProctrackType", "proctrack/cgroup"},
                              {"MinJobAge", "300 sec"}},
               .skew = Duration::zero(),
               .is_operator = true};
  made.news.nodes = {{.name = "g1", .gpu_type = "v100", .gpus = 8, .shards = 16}};
  return made;
}

const Finding* finding_of(const Diagnosis& diagnosis, const std::string& what) {
  const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                  [&](const Finding& each) { return each.what == what; });
  return found == diagnosis.findings.end() ? nullptr : &*found;
}

TEST(Doctor, FindsNothingAtAGoodSite) {
  const Diagnosis diagnosis = good().examine();
  for (const Lever lever : kLevers)
    EXPECT_EQ(diagnosis.of(lever), Verdict::fine) << to_string(lever);
}

/// A site that is good but for one thing: which lever suffers, how, and by what finding.
struct Broken {
  std::string name;
  std::function<void(Case&)> change;
  Lever lever;
  Verdict verdict;
  std::string what;
};

TEST(Doctor, NamesWhatIsWrongAndWhatToDo) {
  const auto set = [](const char* key, const char* value) {
    return [=](Case& site) { site.site.parameters[key] = value; };
  };
  const Broken sites[] = {
      {"old", [](Case& c) { c.site.version = "20.11.9"; }, Lever::watching, Verdict::broken,
       "version"},
      {"federated", [](Case& c) { c.site.federated = true; }, Lever::order, Verdict::broken,
       "federation"},
      {"clock", [](Case& c) { c.site.skew = -90s; }, Lever::order, Verdict::partly, "clock"},
      {"user", [](Case& c) { c.site.is_operator = false; }, Lever::order, Verdict::broken,
       "rights"},
      {"basic", set("PriorityType", "priority/basic"), Lever::order, Verdict::partly,
       "PriorityType"},
      {"linear", set("SelectType", "select/linear"), Lever::placement, Verdict::broken,
       "SelectType"},
      {"age is lost", set("PriorityWeightAge", "1000"), Lever::placement, Verdict::partly,
       "PriorityWeightAge"},
      {"no database", set("AccountingStorageType", ""), Lever::learning, Verdict::broken,
       "AccountingStorageType"},
      {"no GPUs counted", set("AccountingStorageTRES", "cpu,mem"), Lever::learning, Verdict::broken,
       "AccountingStorageTRES"},
      {"no programs", set("SuspendProgram", ""), Lever::power, Verdict::broken,
       "SuspendProgram, ResumeProgram"},
      {"power off", set("SuspendTime", "INFINITE"), Lever::power, Verdict::broken, "SuspendTime"},
      {"two decide", set("SuspendTime", "300 sec"), Lever::power, Verdict::partly, "SuspendTime"},
      {"slow passes", set("SchedulerParameters", "bf_interval=30"), Lever::power, Verdict::partly,
       "sched_interval"},
      {"credentials", set("AuthInfo", ""), Lever::preemption, Verdict::partly, "cred_expire"},
      {"no requeue", set("JobRequeue", "0"), Lever::preemption, Verdict::partly, "JobRequeue"},
      {"no cgroups", set("ProctrackType", "proctrack/linuxproc"), Lever::slimming, Verdict::broken,
       "TaskPlugin, ProctrackType"},
      {"agents find no jobs", set("TaskPlugin", "task/affinity"), Lever::idle, Verdict::broken,
       "TaskPlugin, ProctrackType"},
      {"no shards", [](Case& c) { c.news.nodes[0].shards = 0; }, Lever::sharing, Verdict::broken,
       "gres/shard"},
      {"shards of all a GPU", [](Case& c) { c.news.nodes[0].shards = 8; }, Lever::sharing,
       Verdict::broken, "gres/shard"},
      {"shards and GPUs",
       [](Case& c) {
         c.news.nodes[0].partitions = {"v"};
         c.news.jobs = {{.partition = "v", .gpus = 1}};
       },
       Lever::sharing, Verdict::partly, "whole GPUs"},
      {"nothing releases jobs that share", [](Case& c) { c.can.begins = false; }, Lever::sharing,
       Verdict::broken, "held jobs"},
      {"no GPUs", [](Case& c) { c.news.nodes[0].gpus = 0; }, Lever::watching, Verdict::broken,
       "GRES"},
      {"nothing releases", [](Case& c) { c.can.begins = false; }, Lever::placement, Verdict::broken,
       "held jobs"},
      {"another orders", set("PrioritySiteFactorPlugin", "site_factor/other"), Lever::order,
       Verdict::broken, "PrioritySiteFactorPlugin"},
      {"all down", [](Case& c) { c.news.nodes[0].drained = true; }, Lever::order, Verdict::partly,
       "nodes"},
      {"user who would share", [](Case& c) { c.site.is_operator = false; }, Lever::sharing,
       Verdict::broken, "rights"},
      {"hasty", set("MinJobAge", "5 sec"), Lever::watching, Verdict::partly, "MinJobAge"}};
  for (const Broken& each : sites) {
    Case site = good();
    each.change(site);
    const Diagnosis diagnosis = site.examine();
    EXPECT_EQ(diagnosis.of(each.lever), each.verdict) << each.name;
    const Finding* const finding = finding_of(diagnosis, each.what);
    ASSERT_NE(finding, nullptr) << each.name;
    EXPECT_EQ(finding->verdict, each.verdict) << each.name;
    EXPECT_FALSE(finding->means.empty()) << each.name;
    EXPECT_FALSE(finding->to_do.empty()) << each.name;
  }
}

TEST(Doctor, LetsAFederatedSiteBeWatched) {
  Case site = good();
  site.site.federated = true;
  const Diagnosis diagnosis = site.examine();
  EXPECT_EQ(diagnosis.of(Lever::watching), Verdict::fine);
  EXPECT_EQ(diagnosis.of(Lever::preemption), Verdict::broken);
}

TEST(Doctor, SaysWhatOneWayDoesNotTell) {
  Case site = good();
  site.site.parameters.clear();
  site.site.is_operator.reset();
  site.site.skew = kNoDuration;
  site.way = "slurmrestd";
  site.can = {};
  const Diagnosis diagnosis = site.examine();
  EXPECT_EQ(diagnosis.of(Lever::watching), Verdict::fine);
  EXPECT_EQ(diagnosis.of(Lever::learning), Verdict::unknown);
  EXPECT_EQ(diagnosis.of(Lever::order), Verdict::partly);
  for (const Lever lever : {Lever::placement, Lever::power, Lever::preemption, Lever::sharing}) {
    EXPECT_EQ(diagnosis.of(lever), Verdict::broken) << to_string(lever);
  }
  EXPECT_EQ(finding_of(diagnosis, "slurm.conf")->verdict, Verdict::unknown);
}

TEST(Doctor, TellsWhatAHoldCostsOfAge) {
  Case site = good();
  site.site.parameters["PriorityWeightAge"] = "5000";
  site.site.parameters["PriorityMaxAge"] = "14-00:00:00";
  const Diagnosis lost = site.examine();
  ASSERT_NE(finding_of(lost, "PriorityWeightAge"), nullptr);
  EXPECT_NE(finding_of(lost, "PriorityWeightAge")->means.find("up to 5000"), std::string::npos);
  EXPECT_NE(finding_of(lost, "PriorityWeightAge")->means.find("14-00:00:00"), std::string::npos);
  site.site.parameters["PriorityFlags"] = "ACCRUE_ALWAYS";
  EXPECT_EQ(finding_of(site.examine(), "PriorityWeightAge")->verdict, Verdict::fine);
}

}  // namespace
}  // namespace almanac::slurm
