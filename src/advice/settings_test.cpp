// SPDX-License-Identifier: Apache-2.0
#include "advice/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site/read.h"
#include "support/temporary_folder.h"
#include "text/duration.h"

namespace almanac::advice {
namespace {

using testing::HasSubstr;

site::Site small_site() {
  const TemporaryFolder folder;
  folder.write("slurm.conf",
               "ClusterName=c\nPriorityType=priority/multifactor\nPriorityWeightAge=1000\n"
               "SchedulerParameters=bf_max_job_test=50,bf_interval=60\nGresTypes=gpu\n"
               "AccountingStorageTRES=gres/gpu\n"
               "NodeName=n1 CPUs=8 Gres=gpu:4\nPartitionName=gpu Nodes=n1 MaxTime=1-0\n");
  folder.write("qos.txt",
               "Name|Priority|UsageFactor|MaxJobsPU|MaxTRESPU\nnormal|0|1|2|cpu=8,gres/gpu=4\n");
  auto site = site::read_site(folder / "");
  EXPECT_TRUE(site) << to_string(site.error());
  return std::move(*site);
}

site::Site with(const std::string& text) {
  const site::Site site = small_site();
  const auto settings = parse_settings(text, site);
  EXPECT_TRUE(settings) << to_string(settings.error());
  auto made = changed(site, *settings);
  EXPECT_TRUE(made) << to_string(made.error());
  return std::move(*made);
}

std::string refused(const std::string& text) {
  const site::Site site = small_site();
  const auto settings = parse_settings(text, site);
  if (!settings) return to_string(settings.error());
  const auto made = changed(site, *settings);
  return made ? "taken" : to_string(made.error());
}

TEST(Settings, ChangeWhatTheyNameAndNothingElse) {
  const site::Site today = small_site();
  const site::Site weights = with("priorityweightfairshare=20000");
  EXPECT_EQ(weights.config.priority.weight_fair_share, 20'000U);
  EXPECT_EQ(weights.config.priority.weight_age, 1000U);
  EXPECT_EQ(weights.config.scheduler, today.config.scheduler);

  const site::Site depth = with("bf_max_job_test=500, bf_continue");
  EXPECT_EQ(depth.config.scheduler.bf_max_job_test, 500);
  EXPECT_EQ(depth.config.scheduler.bf_node_space_size, 500) << "it follows unless it is set";
  EXPECT_TRUE(depth.config.scheduler.bf_continue);
  EXPECT_EQ(depth.config.scheduler.bf_interval, 60s);
  EXPECT_FALSE(with("bf_continue=no").config.scheduler.bf_continue);

  EXPECT_EQ(with("partition.gpu.MaxTime=7-0").partitions[0].max_time, 24h * 7);
  EXPECT_EQ(with("qos.normal.MaxJobsPerUser=-1").qos[0].per_user.jobs, site::kNoLimit);
  const site::Site gpus = with("qos.normal.MaxTRESPU=gres/gpu=16");
  EXPECT_EQ(gpus.qos[0].per_user.tres,
            (site::TresCounts{{site::kCpu, 8}, {today.find_tres("gres/gpu").value(), 16}}))
      << "other resources keep their limits";
  EXPECT_EQ(with("qos.normal.MaxTRESPU=gres/gpu=-1").qos[0].per_user.tres,
            (site::TresCounts{{site::kCpu, 8}}));
}

TEST(Settings, AreReadAsTheyAreToday) {
  const site::Site site = small_site();
  const auto today = [&](const std::string& name) {
    return value_of(parse_settings(name + "=1", site).value().front(), site);
  };
  EXPECT_EQ(today("PriorityWeightAge"), "1000");
  EXPECT_EQ(today("PriorityMaxAge"), "7-00:00:00");
  EXPECT_EQ(today("bf_max_job_test"), "50");
  EXPECT_EQ(today("bf_window"), "1440");
  EXPECT_EQ(today("qos.normal.MaxTRESPU=cpu"), "cpu=8,gres/gpu=4");
  EXPECT_EQ(today("partition.gpu.MaxNodes"), "-1");
  EXPECT_EQ(value_of(parse_settings("bf_continue", site).value().front(), site), "no");
}

TEST(Settings, GiveTheLinesForTheRealSite) {
  const site::Site site = small_site();
  const auto settings = parse_settings(
      "bf_max_job_test=500,bf_continue,PriorityWeightAge=2000,qos.normal.MaxJobsPU=20,"
      "partition.gpu.MaxTime=7-0",
      site);
  ASSERT_TRUE(settings) << to_string(settings.error());
  std::vector<std::string> lines;
  for (const Line& line : lines_for(site, *settings))
    lines.push_back(line.where + ": " + line.text);
  EXPECT_THAT(lines,
              testing::ElementsAre(
                  "slurm.conf: PriorityWeightAge=2000",
                  "slurm.conf: SchedulerParameters=bf_interval=60,bf_max_job_test=500,bf_continue",
                  "shell: sacctmgr modify qos normal set MaxJobsPU=20",
                  "shell: scontrol update PartitionName=gpu MaxTime=7-0  # until slurmctld "
                  "restarts; set it in slurm.conf, too"));
}

TEST(Settings, RefuseWhatNobodyKnows) {
  EXPECT_THAT(refused("bf_max_job_tset=500"), HasSubstr("did you mean bf_max_job_test?"));
  EXPECT_THAT(refused("PriorityWeightFairshar=1"),
              HasSubstr("did you mean PriorityWeightFairshare?"));
  EXPECT_THAT(refused("qos.norml.MaxJobsPU=2"), HasSubstr("did you mean normal?"));
  EXPECT_THAT(refused("qos.normal.MaxJobs=2"), HasSubstr("MaxJobsPU"));
  EXPECT_THAT(refused("partition.cpu.MaxTime=1-0"), HasSubstr("no partition is called \"cpu\""));
  EXPECT_THAT(refused("PriorityWeightAge"), HasSubstr("PriorityWeightAge has no value"));
  EXPECT_THAT(refused("PriorityWeightAge=lots"), HasSubstr("must be a whole number"));
  for (const char* const value : {"-1", "-5", "4294967296", "99999999999", "1.5", "5M"}) {
    EXPECT_THAT(refused(std::string("PriorityWeightAge=") + value),
                HasSubstr("PriorityWeightAge must be a whole number from 0 to 4294967295"));
  }
  EXPECT_THAT(refused("FairShareDampeningFactor=65536"),
              HasSubstr("must be a whole number from 0 to 65535"));
  EXPECT_THAT(refused("bf_continue=maybe"), HasSubstr("must be yes or no"));
  EXPECT_THAT(
      refused("bf_max_job_test=many"),
      HasSubstr("bf_max_job_test must be a whole number from 1 to 1000000, found \"many\""));
  EXPECT_THAT(refused("bf_interval=999999"), HasSubstr("from 1 to 10800, found \"999999\""));
  EXPECT_THAT(refused("bf_max_job_test=0"), HasSubstr("from 1 to 1000000, found \"0\""));
  EXPECT_THAT(refused("default_queue_depth=-5"), HasSubstr("found \"-5\""));
  EXPECT_EQ(refused("bf_interval=-1"), "taken") << "no backfill";
  EXPECT_THAT(refused("qos.normal.MaxTRESPU=gres/gpuu=16"),
              HasSubstr("counts no resource \"gres/gpuu\""));
  EXPECT_THAT(refused("qos.normal.MaxTRESPU=gres/gpuu=16"), HasSubstr("did you mean gres/gpu?"));
  EXPECT_THAT(refused("qos.normal.MaxTRESPU=gpu=16"), HasSubstr("counts no resource \"gpu\""));
  EXPECT_THAT(refused("qos.normal.MaxTRESPU=cpu=-3"), HasSubstr("cpu must be 0 or more"));
  EXPECT_EQ(refused("qos.normal.MaxTRESPU=cpu=-1"), "taken") << "no limit";
  EXPECT_THAT(refused("bf_continue,bf_continue=no"), HasSubstr("bf_continue has two values"));
  EXPECT_EQ(refused("qos.normal.MaxTRESPU=cpu=9,qos.normal.MaxTRESPU=gres/gpu=5"), "taken");
  EXPECT_THAT(refused(""), HasSubstr("no setting is named"));
}

}  // namespace
}  // namespace almanac::advice
