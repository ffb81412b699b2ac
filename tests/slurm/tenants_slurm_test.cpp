// SPDX-License-Identifier: Apache-2.0

/// \file
/// Accounts of a real Slurm as tenants: its shares and what it has counted, by each way to it, and
/// its queue in their order.
#include <cstdlib>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "slurm/command_link.h"
#include "slurm/gateway_link.h"
#include "slurm/test_cluster.h"
#include "steer/decider.h"

namespace almanac::steer {
namespace {

using manager::Association;
using manager::JobNumber;
using slurm::eventually;
using slurm::TestCluster;

Mirror look(manager::Link& link) {
  const auto site = link.site();
  EXPECT_TRUE(site) << to_string(site.error());
  auto news = link.news();
  EXPECT_TRUE(news) << to_string(news.error());
  Mirror made;
  made.take(std::move(*news));
  return made;
}

double use_of(const Mirror& mirror, const std::string& account) {
  for (const Association& each : mirror.associations()) {
    if (each.account == account && each.user.empty()) return each.use;
  }
  return -1;
}

TEST(TenantsSlurm, AreTheAccountsOfARealSlurm) {
  SKIP_WITHOUT_SLURM(.nodes = 2, .accounting = true);
  const TestCluster cluster({.nodes = 2, .accounting = true});
  cluster.must("sacctmgr -i modify account science set fairshare=3");
  cluster.must("sacctmgr -i add account vision parent=science fairshare=3");
  cluster.must("sacctmgr -i add account speech parent=science fairshare=1");
  cluster.must("sacctmgr -i add account guests fairshare=1");
  cluster.must("sacctmgr -i add user root account=vision,speech,guests");
  const auto runs = cluster.submit("-A vision -N 2 --gres=gpu:8 --wrap 'sleep 3600'");
  ASSERT_TRUE(cluster.becomes(runs, "RUNNING"));
  const auto hers = cluster.submit("-A vision -N 2 --gres=gpu:8 --wrap 'sleep 600'");
  const auto his = cluster.submit("-A speech -N 2 --gres=gpu:8 --wrap 'sleep 600'");

  // Each minute Slurm counts what was used; 16 GPUs for 8 s are two minutes.
  EXPECT_TRUE(eventually([&] {
    slurm::CommandLink link;
    return use_of(look(link), "vision") >= 120;
  }));
  slurm::CommandLink link;
  const Mirror by_commands = look(link);
  const auto world = make_world(by_commands, Grouping::partitions);
  const auto guarantee = [&](const char* account, const char* user) {
    return world->cluster.tenants[index(tenant_of(world->tenants, account, user, "all"))].guarantee;
  };
  // Beside the account root's own user, who has one share.
  EXPECT_DOUBLE_EQ(guarantee("guests", ""), 16.0 / 5);
  EXPECT_DOUBLE_EQ(guarantee("science", ""), 16.0 * 3 / 5);
  EXPECT_DOUBLE_EQ(guarantee("vision", "root"), 16.0 * 3 / 5 * 3 / 5);
  EXPECT_EQ(use_of(by_commands, "guests"), 0);

  Decider decider(*compose("fair_share"), {}, 0);
  const Decision& made = decider.decide(by_commands, world, {});
  ASSERT_EQ(made.lines.size(), 1U);
  EXPECT_EQ(made.lines.front().jobs, (std::vector{JobNumber{his}, JobNumber{hers}}))
      << "speech has used nothing";

  // The gateway tells the same, and seconds where sshare has minutes.
  if (std::getenv("ALMANAC_SLURM_GATEWAY") == nullptr) return;
  slurm::GatewayLink gateway;
  const Mirror by_gateway = look(gateway);
  EXPECT_GE(use_of(by_gateway, "vision"), use_of(by_commands, "vision"));
  EXPECT_LT(use_of(by_gateway, "vision"), use_of(by_commands, "vision") + 16 * 600);
  EXPECT_EQ(make_world(by_gateway, Grouping::partitions)->tenants, world->tenants);
}

}  // namespace
}  // namespace almanac::steer
