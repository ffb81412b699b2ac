// SPDX-License-Identifier: Apache-2.0

/// \file
/// Accounts, their quotas and switches of a real Slurm, as the gateway tells them and as a policy
/// heeds them.
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slurm/gateway_link.h"
#include "slurm/test_cluster.h"
#include "steer/decider.h"
#include "steer/record.h"
#include "support/run_program.h"

namespace almanac::steer {
namespace {

using manager::JobNumber;
using slurm::eventually;
using slurm::TestCluster;

TEST(GatewayLimitsTest, ARealSlurmsQuotasAndSwitchesAreHeeded) {
  SKIP_WITHOUT_SLURM(.nodes = 6, .switches = true, .accounting = true);
  const TestCluster cluster({.nodes = 6, .switches = true, .accounting = true});
  cluster.must("sacctmgr -i add account guests");
  cluster.must("sacctmgr -i add account vision parent=science");
  cluster.must("sacctmgr -i add user root account=guests,vision");
  cluster.must("sacctmgr -i modify account science set GrpTRES=gres/gpu=16");
  cluster.must("sacctmgr -i modify qos high set GrpTRES=gres/gpu=4");
  const auto runs = cluster.submit("-A vision --gres=gpu:8 -N 2 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(runs, "RUNNING"));
  const auto limited = cluster.submit("-A science --gres=gpu:8 --wrap 'sleep 600'");
  EXPECT_TRUE(eventually([&] { return cluster.of_job(limited, "reason") == "AssocGrpGRES"; }));
  const auto guest = cluster.submit("-A guests --gres=gpu:8 -N 4 -w n005 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(guest, "RUNNING"));

  slurm::GatewayLink link;
  const auto site = link.site();
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_TRUE(site->facts.enforces_limits);
  auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  ASSERT_TRUE(news->limits);
  EXPECT_EQ(news->limits->parents.at("vision"), "science");
  EXPECT_EQ(news->limits->parents.at("science"), "root");
  EXPECT_EQ(news->limits->accounts.at("root"), "root") << "what sacctmgr took for its default";
  Mirror mirror;
  mirror.take(std::move(*news));
  EXPECT_EQ(mirror.nodes().at("n003").switches, "top/s1");
  EXPECT_EQ(mirror.nodes().at("n004").switches, "top/s2");

  Decider decider(*compose("fifo"), {}, 0);
  const auto world = make_world(mirror, Grouping::accounts);
  const Decision& made = decider.decide(mirror, world, {});
  EXPECT_EQ(made.aside.at(JobNumber{limited}), Aside::at_quota);
  EXPECT_EQ(made.quotas.at(JobNumber{limited}), "account science has 16 of 16 GPUs");
  EXPECT_EQ(made.lines.front().ranked, (std::vector{JobNumber{limited}}));
  EXPECT_EQ(to_stored(*mirror.find(JobNumber{guest}), *world).asked->vc, "guests");
  Quotas quotas(mirror);
  manager::Job urgent = *mirror.find(JobNumber{limited});
  urgent.qos = "high";
  EXPECT_EQ(quotas.tightest(urgent), "QOS high has 0 of 4 GPUs");
  EXPECT_TRUE(quotas.is_at(urgent));
  urgent.gpus = 4;
  EXPECT_FALSE(quotas.is_at(urgent)) << "a QOS that limits counts instead of the account";

  // What is free again is offered to the job that waited for it.
  cluster.must(fmt::format("scancel {}", runs));
  EXPECT_TRUE(eventually([&] {
    if (auto more = link.news()) mirror.take(std::move(*more));
    return decider.decide(mirror, world, {}).quotas.empty();
  }));

  // And what has ended is played under them, once accounting has it.
  EXPECT_TRUE(eventually([&] {
    const ProgramRun told = run_program({"advise", "--slurm", "gateway", "-p", "fifo"});
    return told.status == 0 && told.out.find("as they are today: 2") != std::string::npos;
  }));
}

TEST(GatewayLimitsTest, AUsersQuotaIsNotThatOfHisAssociationForOnePartition) {
  SKIP_WITHOUT_SLURM(.nodes = 2, .accounting = true);
  const TestCluster cluster({.nodes = 2, .accounting = true});
  cluster.must("sacctmgr -i add account speech");
  cluster.must("sacctmgr -i add user root account=speech");
  cluster.must("sacctmgr -i modify user root where account=speech set GrpTRES=gres/gpu=4");
  cluster.must("sacctmgr -i add user root account=speech partition=vc1");
  const auto apart = cluster.submit("-A speech -p vc1 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(apart, "RUNNING")) << "no quota of this user";
  const auto within = cluster.submit("-A speech -p vc2 --gres=gpu:4 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(within, "RUNNING")) << "and it does not count for the user's own";
  const auto beyond = cluster.submit("-A speech -p vc2 --gres=gpu:1 --wrap 'sleep 600'");
  EXPECT_TRUE(eventually([&] { return cluster.of_job(beyond, "reason") == "AssocGrpGRES"; }));

  slurm::GatewayLink link;
  auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  Mirror mirror;
  mirror.take(std::move(*news));
  Quotas quotas(mirror);
  EXPECT_FALSE(quotas.is_at(*mirror.find(JobNumber{apart})));
  EXPECT_TRUE(quotas.is_at(*mirror.find(JobNumber{beyond})));
  EXPECT_EQ(quotas.tightest(*mirror.find(JobNumber{beyond})),
            "user root of account speech has 4 of 4 GPUs");
}

}  // namespace
}  // namespace almanac::steer
