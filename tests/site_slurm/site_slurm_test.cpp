// SPDX-License-Identifier: Apache-2.0
//
// Policy slurm with a site, as a user calls it: a folder of the site's files and a log of sacct.
// Each site has two nodes with four GPUs; times are minutes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site_slurm/played_site.h"

namespace almanac {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kAccounts =
    "Cluster|Account|User|Partition|Share|Priority|GrpTRES|MaxJobs|QOS|Def QOS\n"
    "little|root|||1||||normal,low,high|normal\n"
    "little|lab|||1||||normal,low,high|normal\n"
    "little|lab|ann||1||||normal,low,high|normal\n"
    "little|lab|bob||1||||normal,low,high|normal\n";

constexpr auto kMain = "PartitionName=main Nodes=g[1-2] Default=YES MaxTime=INFINITE State=UP\n";

constexpr auto kFairShare =
    "PriorityType=priority/multifactor\n"
    "PriorityWeightFairshare=10000\n"
    "PriorityWeightAge=0\n"
    "PriorityCalcPeriod=1\n"
    "AccountingStorageEnforce=associations,limits,qos\n";

/// Ann fills the cluster for an hour. While it is full, she submits one more job, and then Bob one.
/// Under stock Slurm hers goes first, as it came first. With fair share, Bob's does: he has used
/// nothing.
PlayedSite with_a_heavy_user(const std::string& conf) {
  PlayedSite site(conf);
  site.add_file("assoc.txt", kAccounts);
  site.add({.id = "1", .submit_min = 0, .run_min = 60, .gpus = 4});
  site.add({.id = "2", .submit_min = 0, .run_min = 60, .gpus = 4});
  site.add({.id = "3", .submit_min = 10, .run_min = 30, .gpus = 4});
  site.add({.id = "4", .submit_min = 10, .run_min = 30, .gpus = 4});
  site.add({.id = "5", .submit_min = 20, .run_min = 30, .gpus = 4, .user = "bob"});
  return site;
}

TEST(SiteSlurm, FairShareReordersTwoUsers) {
  PlayedSite stock = with_a_heavy_user(kMain);
  stock.play();
  EXPECT_NEAR(stock.start_of("3"), 60, 0.1);
  EXPECT_NEAR(stock.start_of("4"), 60, 0.1);
  EXPECT_NEAR(stock.start_of("5"), 90, 0.1);

  PlayedSite fair = with_a_heavy_user(std::string(kFairShare) + kMain);
  fair.play();
  EXPECT_NEAR(fair.start_of("5"), 60, 0.1);
  EXPECT_NEAR(fair.start_of("3"), 60, 0.1);
  EXPECT_NEAR(fair.start_of("4"), 90, 0.1);
  EXPECT_THAT(fair.reasons_of("4"), Contains("Priority"));
}

TEST(SiteSlurm, FairShareBeginsWithTheUsageOfSshare) {
  constexpr auto kShares =
      "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare\n"
      "root|||0|90000000||1.0|\n"
      " lab||1|1.0|90000000|1.0|1.0|\n"
      "  lab|ann|1|0.5|0|0|0|1.0\n"
      "  lab|bob|1|0.5|90000000|1.0|1.0|0.5\n";
  const auto sdiag_of = [](std::int64_t at) {
    return fmt::format("sdiag output at some time ({})\nData since some time ({})\n", at, at);
  };
  // Bob used much more before the log than Ann does in it, so that her jobs go first.
  PlayedSite fair = with_a_heavy_user(std::string(kFairShare) + kMain);
  fair.add_file("shares.txt", kShares);
  fair.add_file("sdiag.txt", sdiag_of(PlayedSite::kMidnight_s - 60));
  fair.play();
  EXPECT_NEAR(fair.start_of("3"), 60, 0.1);
  EXPECT_NEAR(fair.start_of("5"), 90, 0.1);
  EXPECT_THAT(fair.notes(), Contains(HasSubstr("the usage that sshare reported before the log")));

  PlayedSite late = with_a_heavy_user(std::string(kFairShare) + kMain);
  late.add_file("shares.txt", kShares);
  late.add_file("sdiag.txt", sdiag_of(PlayedSite::kMidnight_s + 60));
  late.play();
  EXPECT_NEAR(late.start_of("5"), 60, 0.1);
  EXPECT_THAT(late.notes(), Contains(HasSubstr("sshare reported it after the log began")));
}

TEST(SiteSlurm, ALimitOfAQosMakesAJobWait) {
  PlayedSite site(std::string("AccountingStorageEnforce=associations,limits,qos\n") +
                  "AccountingStorageTRES=gres/gpu\n" + kMain);
  site.add_file("assoc.txt", kAccounts);
  site.add_file("qos.txt",
                "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES\n"
                "normal|0|00:00:00||cluster||1.000000|gres/gpu=4\n"
                "low|0|00:00:00||cluster||1.000000|\n"
                "high|0|00:00:00||cluster||1.000000|\n");
  site.add({.id = "1", .submit_min = 0, .run_min = 60, .gpus = 3});
  // One node is free, but the QOS leaves one GPU.
  site.add({.id = "2", .submit_min = 10, .run_min = 10, .gpus = 2});
  site.add({.id = "3", .submit_min = 11, .run_min = 10, .gpus = 2, .qos = "high"});
  site.play();
  EXPECT_NEAR(site.start_of("2"), 60, 0.6);
  EXPECT_THAT(site.reasons_of("2"), Contains("QOSGrpGRES"));
  EXPECT_NEAR(site.start_of("3"), 11, 0.6);
}

TEST(SiteSlurm, PartitionsShareNodesAndTheHigherTierGoesFirst) {
  PlayedSite site(
      "PartitionName=main Nodes=g[1-2] Default=YES State=UP\n"
      "PartitionName=urgent Nodes=g1 PriorityTier=10 State=UP\n");
  site.add({.id = "1", .submit_min = 0, .run_min = 60, .gpus = 4});
  site.add({.id = "2", .submit_min = 0, .run_min = 30, .gpus = 4});
  site.add({.id = "3", .submit_min = 10, .run_min = 20, .gpus = 4});
  site.add({.id = "4", .submit_min = 20, .run_min = 20, .gpus = 4, .partition = "urgent"});
  site.play();
  // Jobs 1 and 2 fill the nodes. Partition urgent has only g1, and its job goes before job 3 there.
  ASSERT_THAT(site.nodes_of("1"), ElementsAre("g1"));
  EXPECT_NEAR(site.start_of("3"), 30, 0.6);
  EXPECT_THAT(site.nodes_of("3"), ElementsAre("g2"));
  EXPECT_NEAR(site.start_of("4"), 60, 0.6);
  EXPECT_THAT(site.nodes_of("4"), ElementsAre("g1"));
}

TEST(SiteSlurm, AReservationKeepsNodesFree) {
  PlayedSite site(kMain);
  site.add_file("reservations.txt",
                "ReservationName=course StartTime=2024-01-01T00:30:00 EndTime=2024-01-01T02:00:00 "
                "Duration=01:30:00\n"
                "   Nodes=g2 NodeCnt=1 CoreCnt=16 Features=(null) PartitionName=(null) "
                "Flags=SPEC_NODES\n"
                "   TRES=cpu=16\n"
                "   Users=bob Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE "
                "BurstBuffer=(null) Watts=n/a\n"
                "   MaxStartDelay=(null)\n");
  site.add({.id = "1", .submit_min = 0, .run_min = 100, .gpus = 4});
  // g2 is free, but a job of 40 minutes would run into the reservation. One of 20 does not.
  site.add({.id = "2", .submit_min = 5, .run_min = 40, .gpus = 4});
  site.add({.id = "3", .submit_min = 6, .run_min = 20, .gpus = 4});
  site.add({.id = "4",
            .submit_min = 10,
            .run_min = 60,
            .gpus = 4,
            .user = "bob",
            .reservation = "course"});
  site.play();
  EXPECT_THAT(site.reasons_of("2"), Contains("ReqNodeNotAvail, May be reserved for other job"));
  EXPECT_NEAR(site.start_of("3"), 6, 1.1);
  EXPECT_NEAR(site.start_of("4"), 30, 1.1);
  EXPECT_THAT(site.nodes_of("4"), ElementsAre("g2"));
  EXPECT_NEAR(site.start_of("2"), 100, 1.1);
}

TEST(SiteSlurm, AHigherQosPreemptsALowerOne) {
  PlayedSite site(std::string("PreemptType=preempt/qos\nPreemptMode=REQUEUE\n") +
                  "AccountingStorageEnforce=associations,limits,qos\n" + kMain);
  site.add_file("assoc.txt", kAccounts);
  site.add_file("qos.txt",
                "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES\n"
                "normal|0|00:00:00||cluster||1.000000|\n"
                "low|0|00:00:00||cluster||1.000000|\n"
                "high|0|00:00:00|low|cluster||1.000000|\n");
  site.add({.id = "1", .submit_min = 0, .run_min = 60, .gpus = 4});
  site.add({.id = "2", .submit_min = 0, .run_min = 60, .gpus = 4, .qos = "low"});
  site.add({.id = "3", .submit_min = 20, .run_min = 10, .gpus = 4, .qos = "high"});
  site.play();
  EXPECT_NEAR(site.start_of("3"), 20, 0.6);
  EXPECT_EQ(site.preemptions_of("1"), 0);
  EXPECT_EQ(site.preemptions_of("2"), 1);
  // Job 2 has run for 20 minutes, and goes on at minute 30.
  EXPECT_NEAR(site.end_of("2"), 70, 1.1);
}

TEST(SiteSlurm, PreemptModeCancelEndsTheJobAfterItsGraceTime) {
  PlayedSite site(std::string("PreemptType=preempt/qos\nPreemptMode=CANCEL\n") +
                  "AccountingStorageEnforce=associations,limits,qos\n" + kMain);
  site.add_file("assoc.txt", kAccounts);
  site.add_file("qos.txt",
                "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES\n"
                "normal|0|00:00:00||cluster||1.000000|\n"
                "low|0|00:05:00||cluster||1.000000|\n"
                "high|0|00:00:00|low|cluster||1.000000|\n");
  site.add({.id = "1", .submit_min = 0, .run_min = 60, .gpus = 4});
  site.add({.id = "2", .submit_min = 0, .run_min = 60, .gpus = 4, .qos = "low"});
  site.add({.id = "3", .submit_min = 20, .run_min = 10, .gpus = 4, .qos = "high"});
  site.play();
  EXPECT_NEAR(site.end_of("2"), 25, 0.6);
  EXPECT_NEAR(site.start_of("3"), 25, 0.6);
}

TEST(SiteSlurm, ARunAfterTheNodeFailedIsNotStoppedForAnEarlierPreemption) {
  PlayedSite site(std::string("PreemptType=preempt/qos\nPreemptMode=CANCEL\n") +
                  "AccountingStorageEnforce=associations,limits,qos\n" + kMain);
  site.add_file("assoc.txt", kAccounts);
  site.add_file("qos.txt",
                "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES\n"
                "normal|0|00:00:00||cluster||1.000000|\n"
                "low|0|00:20:00||cluster||1.000000|\n"
                "high|0|00:00:00|low|cluster||1.000000|\n");
  site.add({.id = "1", .submit_min = 0, .run_min = 60, .gpus = 4});
  site.add({.id = "2", .submit_min = 0, .run_min = 60, .gpus = 4, .qos = "low"});
  // Job 2 must stop at minute 40, but its node fails before. It runs again after job 3.
  site.add({.id = "3", .submit_min = 20, .run_min = 4, .gpus = 4, .qos = "high"});
  site.fail_node("g2", 22, 24);
  site.play();
  EXPECT_NEAR(site.start_of("3"), 24, 0.6);
  EXPECT_GT(site.end_of("2"), 60);
}

TEST(SiteSlurm, ADrainedNodeStartsNoJob) {
  PlayedSite site(kMain);
  site.add_file("events.txt",
                "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
                "little|g2|2024-01-01T00:05:00|2024-01-01T01:00:00|DRAIN|disk|root\n");
  site.add({.id = "1", .submit_min = 0, .run_min = 90, .gpus = 4});
  site.add({.id = "2", .submit_min = 10, .run_min = 10, .gpus = 4});
  site.play();
  EXPECT_NEAR(site.start_of("2"), 60, 1.1);
}

TEST(SiteSlurm, TasksOfAnArrayRunAsTheirThrottleAllows) {
  PlayedSite site(std::string("AccountingStorageEnforce=associations,limits,qos\n") + kMain);
  site.add_file("assoc.txt",
                "Cluster|Account|User|Partition|Share|Priority|GrpTRES|MaxJobs|QOS|Def QOS\n"
                "little|root|||1||||normal|normal\n"
                "little|lab|||1||||normal|normal\n"
                "little|lab|ann||1|||2|normal|normal\n");
  for (const char* const id : {"7_1", "7_2", "7_3"}) {
    site.add({.id = id, .submit_min = 0, .run_min = 10, .gpus = 1});
  }
  site.play();
  EXPECT_NEAR(site.start_of("7_1"), 0, 0.1);
  EXPECT_NEAR(site.start_of("7_2"), 0, 0.1);
  EXPECT_NEAR(site.start_of("7_3"), 10, 0.6);
  EXPECT_THAT(site.reasons_of("7_3"), Contains("AssocMaxJobsLimit"));
}

TEST(SiteSlurm, SaysWhichNamesTheSiteLacks) {
  PlayedSite site(std::string(kFairShare) + kMain);
  site.add_file("assoc.txt", kAccounts);
  site.add_file("qos.txt",
                "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES\n"
                "normal|0|00:00:00||cluster||1.000000|\n");
  site.add({.id = "1", .submit_min = 0, .run_min = 10, .user = "eve", .qos = "gold"});
  site.add({.id = "2", .submit_min = 0, .run_min = 10, .partition = "old"});
  site.play();
  EXPECT_THAT(site.notes(), Contains(HasSubstr("partitions that the site lacks or the log does not "
                                               "name (1 job: old) are its default")));
  EXPECT_THAT(site.notes(), Contains(HasSubstr("users without an association (1 job: lab/eve)")));
  EXPECT_THAT(site.notes(), Contains(HasSubstr("a QOS that the site lacks (1 job: gold)")));
  EXPECT_NEAR(site.start_of("2"), 0, 0.1);
}

}  // namespace
}  // namespace almanac
