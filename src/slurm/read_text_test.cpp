// SPDX-License-Identifier: Apache-2.0
#include "slurm/read_text.h"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace almanac::slurm {
namespace {

Result<Job> row(const std::string& line) { return accounting_in(line, "|"); }

TEST(ReadText, KeepsBlanksWithinAValue) {
  const Fields fields = read_fields("NodeName=g1 OS=Linux 6 #1 SMP a=b Reason=bad fan [ann@5] X=");
  EXPECT_EQ(fields.at("OS"), "Linux 6 #1 SMP a=b");
  EXPECT_EQ(fields.at("Reason"), "bad fan [ann@5]");
  EXPECT_EQ(fields.at("X"), "");
}

// As sshare 22.05.8 printed it, but for the TRES in the middle.
TEST(ReadText, ReadsWhatEachAssociationIsDueAndHasUsed) {
  const auto told = associations_in(
      "root||||24|cpu=0,mem=41,energy=0,billing=0,gres/gpu=3,gres/gpu:a100=3\n"
      " root|root||1|0|cpu=0,mem=0,energy=0,billing=0,gres/gpu=0,gres/gpu:a100=0\n"
      " science|||70|24|cpu=0,mem=41,energy=0,billing=0,gres/gpu=3,gres/gpu:a100=3\n"
      "  science|root||1|0|cpu=0,mem=0,energy=0,billing=0,gres/gpu=0,gres/gpu:a100=0\n"
      "  vision|||3|24|cpu=0,mem=41,energy=0,billing=0,gres/gpu=3,gres/gpu:a100=3\n"
      "   vision|root|vc1|parent|0|cpu=0,mem=0,energy=0,billing=0,gres/gpu=0\n"
      "   vision|root||1|24|cpu=0,mem=41,energy=0,billing=0,gres/gpu=3,gres/gpu:a100=3\n"
      " guests|||30|7.5|cpu=0,mem=0,energy=0,node=0,billing=0\n");
  ASSERT_TRUE(told) << to_string(told.error());
  const std::vector<Association> expected{
      {.account = "root", .use = 180},
      {.account = "root", .user = "root", .shares = 1},
      {.account = "science", .parent = "root", .shares = 70, .use = 180},
      {.account = "science", .user = "root", .shares = 1},
      {.account = "vision", .parent = "science", .shares = 3, .use = 180},
      {.account = "vision", .user = "root", .partition = "vc1", .shares = Association::kParent},
      {.account = "vision", .user = "root", .shares = 1, .use = 180},
      {.account = "guests", .parent = "root", .shares = 30, .use = 7.5}};
  EXPECT_EQ(*told, expected);
  EXPECT_TRUE(associations_in("").value().empty());
  EXPECT_FALSE(associations_in("sshare: error: no fair share here\n"));
}

TEST(ReadText, ReadsPartitions) {
  const auto partitions = partitions_in(
      "PartitionName=vc1 AllowGroups=ALL Default=YES MaxTime=2-00:00:00 Nodes=g[001-002] "
      "PriorityTier=3 OverSubscribe=NO PreemptMode=REQUEUE State=UP\n"
      "PartitionName=old Default=NO MaxTime=UNLIMITED Nodes=(null) PreemptMode=OFF State=DOWN\n"
      "PartitionName=last MaxTime=UNLIMITED Nodes=g003 PreemptMode=OFF State=DRAIN\n");
  ASSERT_TRUE(partitions) << to_string(partitions.error());
  ASSERT_EQ(partitions->size(), 3U);
  EXPECT_EQ((*partitions)[0].max_time, 48h);
  EXPECT_EQ((*partitions)[0].priority_tier, 3);
  EXPECT_TRUE((*partitions)[0].is_default);
  EXPECT_EQ((*partitions)[1].max_time, kNoDuration);
  EXPECT_TRUE((*partitions)[1].nodes.empty());
  EXPECT_FALSE((*partitions)[1].up);
  EXPECT_TRUE((*partitions)[2].up) << "draining, it starts those that wait";
}

TEST(ReadText, ReadsReservationsAndLicences) {
  EXPECT_TRUE(reservations_in("No reservations in the system\n").value().empty());
  const auto reservations = reservations_in(
      "ReservationName=maint StartTime=100 EndTime=3700 Nodes=g004 Users=ann Accounts=(null)\n");
  ASSERT_EQ(reservations->size(), 1U);
  EXPECT_EQ((*reservations)[0].end - (*reservations)[0].start, 1h);
  EXPECT_EQ((*reservations)[0].accounts, "");
  EXPECT_EQ(licences_in("LicenseName=matlab Total=10 Used=4 Free=6\n").value()[0].used, 4);
}

TEST(ReadText, ReadsConfiguration) {
  const Fields config = config_in(
      "Configuration data as of 1795317361\nPriorityType            = priority/multifactor\n"
      "JobSubmitPlugins        = (null)\nAuthInfo                = socket=/x,cred_expire=10\n\n"
      "Slurmctld(primary) at c1 is UP\n");
  EXPECT_EQ(config.at("PriorityType"), "priority/multifactor");
  EXPECT_EQ(config.at("JobSubmitPlugins"), "");
  EXPECT_EQ(config.at("AuthInfo"), "socket=/x,cred_expire=10");
}

TEST(ReadText, ReadsRowsOfAccounting) {
  EXPECT_FALSE(row("4|3_3|COMPLETED|100|100|160|460|300|120|1||||1000|1001|ann|vc1|gpu"));
  const auto task = row(
      "4|3_3|COMPLETED|100|100|160|460|300|120|1|cpu=4,gres/gpu:v100=2,gres/gpu=2,mem=400M,node=1|"
      "cpu=4,gres/gpu:v100=2,gres/gpu=2|1000|1001|ann|vc1|gpu|normal|train it");
  ASSERT_TRUE(task) << to_string(task.error());
  EXPECT_EQ(task->number, JobNumber{4});
  EXPECT_EQ(task->array, JobNumber{3});
  EXPECT_EQ(task->task, 3);
  EXPECT_EQ(task->ran, 300s);
  EXPECT_EQ(task->limit, 2h);
  EXPECT_EQ(task->gpus, 2);
  EXPECT_EQ(task->gpu_type, "v100");
  EXPECT_EQ(task->name, "train it");

  const auto never = row(
      "11|10+1|CANCELLED by 0|100|100|None|460|0|UNLIMITED|1||cpu=1,mem=100M,node=1|1|0|root|vc2|v|"
      "normal|b");
  ASSERT_TRUE(never) << to_string(never.error());
  EXPECT_EQ(never->outcome, trace::JobState::cancelled);
  EXPECT_EQ(never->start, kNoTime);
  EXPECT_EQ(never->limit, kNoDuration);
  EXPECT_EQ(never->het, JobNumber{10});
  EXPECT_EQ(never->cpus, 1) << "what it asked, of one that got nothing";

  const auto again = row("12|12|REQUEUED|100|100|110|120|10||1|||1|0|ann|a|p|q|n");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->outcome, trace::JobState::preempted);

  const auto later = row("13|13|BRAND_NEW|100|100|110|120|10||1|||1|0|ann|a|p|q|n");
  ASSERT_TRUE(later) << to_string(later.error());
  EXPECT_EQ(later->outcome, trace::JobState::unknown) << "of a later release";
}

TEST(ReadText, TellsTheSwitchesAboveANode) {
  const auto switches = switches_in(
      "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-2] \n"
      "SwitchName=s2 Level=0 LinkSpeed=1 Nodes=n3 \n"
      "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=s[1-2] \n");
  ASSERT_TRUE(switches) << to_string(switches.error());
  EXPECT_EQ(*switches, (std::map<std::string, std::string>{
                           {"n1", "top/s1"}, {"n2", "top/s1"}, {"n3", "top/s2"}}));
  EXPECT_EQ(switches_in("SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n1 \n")->at("n1"), "s1");
  EXPECT_TRUE(switches_in("No topology information available\n").value().empty());
}

TEST(ReadText, TakesAnyNameOfAJobOfAccounting) {
  const std::string one =
      fmt::format("{}|7c|", fmt::join({"12", "12", "COMPLETED", "100", "100", "110", "120", "10",
                                       "", "1", "", "", "1", "0", "ann", "a", "p", "q"},
                                      "|7c|"));
  const std::string fake = "two\n13|13|ODD|||||||||||||||||lines";
  const std::string text = one + fake + "\n" + one + "\n" + one + "caf\xe9|7c|\n";
  std::vector<std::string> names;
  for (const std::string_view each : accounting_rows(text, "|7c|")) {
    const auto job = accounting_in(each, "|7c|");
    ASSERT_TRUE(job) << to_string(job.error());
    names.push_back(job->name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{fake, "", "caf\xEF\xBF\xBD|7c|"}));
  EXPECT_TRUE(accounting_rows("", "|7c|").empty());
}

}  // namespace
}  // namespace almanac::slurm
