// SPDX-License-Identifier: Apache-2.0

/// \file
/// One change of a small site's settings, and what is said of it.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advice/advise.h"
#include "site/cluster.h"
#include "site/read.h"
#include "support/temporary_folder.h"

namespace almanac::advice {
namespace {

using testing::HasSubstr;

/// Two nodes of four GPUs.
std::shared_ptr<const site::Site> two_nodes() {
  const TemporaryFolder folder;
  folder.write("slurm.conf",
               "ClusterName=c\nPriorityType=priority/multifactor\nPriorityWeightAge=1000\n"
               "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\n"
               "NodeName=n[1-2] CPUs=8 CoresPerSocket=8 RealMemory=8000 Gres=gpu:4\n"
               "PartitionName=gpu Nodes=ALL Default=YES MaxTime=7-0\n");
  auto site = site::read_site(folder / "");
  EXPECT_TRUE(site) << to_string(site.error());
  return std::make_shared<const site::Site>(std::move(*site));
}

/// Each of 16 days a job of both nodes for 2 h, then three of a node for 1 h, two of which start
/// when the first ends.
trace::Trace wide_and_narrow(Duration waited) {
  trace::Trace log;
  const auto add = [&](Time submit, int nodes, Duration run) {
    trace::Job& job = log.jobs.emplace_back();
    job.id = trace::JobKey{log.jobs.size()};
    job.request.submit = submit;
    job.request.gpus = 4 * nodes;
    job.request.nodes = nodes;
    job.request.cpus = static_cast<float>(nodes);
    job.request.user = log.names.intern("ann");
    job.request.partition = job.request.vc = log.names.intern("gpu");
    job.request.time_limit = run;
    job.outcome.run = run;
    job.outcome.start = submit + waited;
    job.outcome.end = job.outcome.start + run;
    job.outcome.state = trace::JobState::completed;
  };
  for (int day = 0; day < 16; ++day) {
    const Time morning{24h * (20'000 + day) + 8h};
    add(morning, 2, 2h);
    for (int each = 0; each < 3; ++each) add(morning + 1min, 1, 1h);
  }
  return log;
}

Result<Advice> advise_on(const std::string& change, trace::Trace log) {
  const auto site = two_nodes();
  const auto cluster = site::cluster_of(*site, "site");
  if (!cluster) return tl::unexpected(cluster.error());
  auto settings = parse_settings(change, *site);
  if (!settings) return tl::unexpected(settings.error());
  return advise(std::move(log), *cluster,
                {.what_if = std::move(*settings), .conditions = {.site = site, .seed = 1}});
}
Result<Advice> advise_on(const std::string& change, Duration waited = 1h) {
  return advise_on(change, wide_and_narrow(waited));
}

TEST(WhatIf, SaysWhichJobsWouldNeverStartAndComparesTheOthers) {
  const auto advice = advise_on("partition.gpu.MaxNodes=1");
  ASSERT_TRUE(advice) << to_string(advice.error());
  const Change& change = *advice->what_if;
  EXPECT_EQ(change.never, 16) << "the wide one of each day";
  EXPECT_EQ(change.newly, 0);
  EXPECT_EQ(change.jobs, 48);
  EXPECT_EQ(advice->jobs, 48) << "every row of the table has the same jobs";
  EXPECT_NEAR(change.before.avg_wait_s, (2 + 2 + 3) * 3600.0 / 3, 90);
  EXPECT_NEAR(change.after.avg_wait_s, 3600.0 / 3, 90);
  EXPECT_DOUBLE_EQ(advice->stock.avg_wait_s, change.before.avg_wait_s);
  EXPECT_THAT(advice->recommendation,
              HasSubstr("partition.gpu.MaxNodes -1 -> 1: 16 jobs that start today would never "
                        "start. Of the other 48 jobs, the mean wait "));
}

TEST(WhatIf, SaysHowManyNodesAChangeIsWorth) {
  // On four nodes each day's wide job leaves room for two narrow ones, and the third waits an hour.
  const auto advice = advise_on("partition.gpu.MaxNodes=1");
  ASSERT_TRUE(advice) << to_string(advice.error());
  const auto& worth = advice->what_if->worth;
  ASSERT_TRUE(worth);
  EXPECT_EQ(worth->nodes, 2);
  EXPECT_EQ(worth->needed, 4);
  EXPECT_THAT(advice->recommendation,
              HasSubstr("Worth about 2 nodes: today's settings would need about 4 "
                        "instead of 2 for this mean wait."));
}

TEST(WhatIf, SaysIfNoJobIsLeft) {
  const auto advice = advise_on("partition.gpu.MaxNodes=0");
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_THAT(advice->recommendation,
              HasSubstr("64 jobs that start today would never start. No job is left to compare."));
}

TEST(WhatIf, IsInDoubtIfTheSimulationDoesNotMatchTheLog) {
  const auto advice = advise_on("PriorityWeightAge=2000", 30h);
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_FALSE(advice->reproduces);
  EXPECT_THAT(advice->recommendation,
              HasSubstr("This is in doubt: the simulation does not match the log (mean wait 1d 06h "
                        "recorded, 1h 4"));
}

TEST(WhatIf, SaysThatLimitsAboveMaxTimeAreCapped) {
  const auto advice = advise_on("partition.gpu.MaxTime=90");
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_EQ(advice->what_if->never, 0);
  EXPECT_THAT(advice->recommendation, HasSubstr("16 jobs asked for more time. Their limits count "
                                                "as the new MaxTime here"));
}

/// Jobs that name no partition are those of the default one, and a job may name several.
TEST(WhatIf, CountsJobsThatMayRunInThePartition) {
  trace::Trace log = wide_and_narrow(1h);
  const NameId both = log.names.intern("other,gpu");
  for (trace::Job& each : log.jobs) each.request.partition = each.request.vc = kNoName;
  log.jobs.front().request.partition = both;
  const auto advice = advise_on("partition.gpu.MaxTime=90", std::move(log));
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_THAT(advice->recommendation, HasSubstr("16 jobs asked for more time."));
}

TEST(WhatIf, LeavesOutSettingsThatStayAsTheyAre) {
  const auto advice = advise_on("PriorityWeightAge=1000,PriorityWeightQOS=5");
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_THAT(advice->recommendation, testing::StartsWith("With PriorityWeightQOS 0 -> 5: "));
  EXPECT_EQ(advice->what_if->lines.size(), 1U);
  EXPECT_THAT(advice->recommendation,
              HasSubstr("PriorityWeightAge is 1000 today, so it changes nothing."));
}

TEST(WhatIf, SaysThatNothingIsKnownOfShares) {
  const auto advice = advise_on("PriorityWeightFairshare=20000");
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_THAT(advice->recommendation,
              HasSubstr("With each user counted equally (quadratic mean), waits are as long as "
                        "today. No user and no class of jobs would wait "
                        "noticeably longer. The site's files have no associations, so no shares "
                        "are known, and PriorityWeightFairshare cannot change anything here."));
}

}  // namespace
}  // namespace almanac::advice
