// SPDX-License-Identifier: Apache-2.0

/// \file
/// The accounts of a Slurm as tenants: what they are due, and that policies which are fair to
/// owners go by what Slurm has counted.
#include "steer/tenants.h"

#include <cmath>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "desk.h"
#include "steer_slurm/slurm_service.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using manager::Association;
using Numbers = std::vector<std::uint32_t>;

/// Science has 3 of 4 shares and of them vision all but one of four; guests have the fourth.
std::vector<Association> accounts() {
  return {{.account = "root", .use = 1100},
          {.account = "guests", .parent = "root", .shares = 1, .use = 100},
          {.account = "guests", .user = "eve", .shares = Association::kParent, .use = 100},
          {.account = "science", .parent = "root", .shares = 3, .use = 1000},
          {.account = "speech", .parent = "science", .shares = 1, .use = 300},
          {.account = "speech", .user = "cid", .shares = 1, .use = 300},
          {.account = "vision", .parent = "science", .shares = 3, .use = 700},
          {.account = "vision", .user = "ann", .shares = 1, .use = 200},
          {.account = "vision", .user = "bob", .shares = 1, .use = 400},
          {.account = "vision", .user = "bob", .partition = "debug", .shares = 2, .use = 0}};
}

TEST(Tenants, AreTheAccountsOfASlurmByTheirShares) {
  const auto [tenants, by_owner] = tenants_of(accounts(), 16);
  const auto guarantee = [&tenants = tenants](TenantId tenant) {
    return tenants[index(tenant)].guarantee;
  };
  const auto of = [&by_owner = by_owner](const char* account, const char* user,
                                         const char* partition) {
    return tenant_of(by_owner, account, user, partition);
  };
  EXPECT_EQ(tenants.size(), 8U);
  EXPECT_EQ(guarantee(of("guests", "", "")), 4);
  EXPECT_EQ(of("guests", "eve", "v"), of("guests", "", "")) << "fairshare=parent";
  EXPECT_EQ(guarantee(of("science", "", "")), 12);
  EXPECT_EQ(guarantee(of("speech", "cid", "v")), 3);
  EXPECT_EQ(guarantee(of("vision", "ann", "v")), 9.0 / 4);
  EXPECT_EQ(guarantee(of("vision", "bob", "v,debug")), 9.0 / 2);
  EXPECT_EQ(tenants[index(of("vision", "bob", "debug"))].name, "vision/bob@debug");
  EXPECT_EQ(of("vision", "nobody", "v"), of("vision", "", ""));
  EXPECT_EQ(of("others", "ann", "v"), kNoTenant);
  for (std::size_t at = 0; at < tenants.size(); ++at) {
    EXPECT_LT(tenants[at].parent, static_cast<std::int32_t>(at));
  }
  EXPECT_TRUE(tenants_of({}, 16).first.empty());
}

// 100 of vision's 700 are of a user whom Slurm has forgotten.
TEST(Tenants, HaveUsedWhatSlurmHasNotForgotten) {
  const auto [tenants, by_owner] = tenants_of(accounts(), 16);
  std::map<std::string, double> used;
  for (const policy::PastUse& each : past_use_of(accounts(), by_owner, Time{5s})) {
    used[tenants[index(each.tenant)].name] += each.gpu_s;
    EXPECT_EQ(each.until, Time{5s});
  }
  const std::map<std::string, double> expected{{"guests", 100},
                                               {"speech/cid", 300},
                                               {"vision", 100},
                                               {"vision/ann", 200},
                                               {"vision/bob", 400}};
  EXPECT_EQ(used, expected);
}

/// A node that is taken, and jobs of these accounts and users that wait for it.
FakeSlurm with_queue(const std::vector<std::pair<const char*, const char*>>& whose) {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  slurm.submit("ann", 8, 1h).account = "vision";
  slurm.pass(1s);
  for (const auto& [account, user] : whose) {
    slurm.submit(user, 8, 1h).account = account;
    slurm.now += 1s;
  }
  return slurm;
}

// Of 16 GPUs guests used 100 for 4, science 1000 for 12; of those speech 300 for 3, vision 700 for
// 9; of vision ann 200 for 9/4, bob 400 for 9/4.
TEST(Tenants, AreInLineByWhatTheyHaveUsedOfTheirShares) {
  FakeSlurm slurm =
      with_queue({{"vision", "bob"}, {"vision", "ann"}, {"speech", "cid"}, {"guests", "eve"}});
  slurm.associations = accounts();
  Desk desk(slurm, "fair_share", with("order"));
  desk.live(2, 0s);
  EXPECT_EQ(desk.line(), (Numbers{5, 3, 2, 4}));
  EXPECT_EQ(slurm.queue(), (Numbers{5, 3, 2, 4})) << "which the lever has done";
  // What Slurm says now counts, and no memory of ours.
  slurm.associations[1].use = slurm.associations[2].use = 9000;
  desk.live(2, 0s);
  EXPECT_EQ(slurm.queue(), (Numbers{3, 2, 4, 5}));
}

TEST(Tenants, HaveTheLimitsOfTheirAccounts) {
  const TemporaryFolder folder;
  FakeSlurm slurm = with_queue({});
  slurm.site.cluster = "limits";  // that no two tests mean the same one
  slurm.site.parameters["AccountingStorageEnforce"] = "associations,limits";
  slurm.associations = accounts();
  slurm.limits.quotas = {{.account = "guests", .gpus = 8},
                         {.account = "guests", .user = "eve", .gpus = 2},
                         {.account = "vision", .user = "ann", .gpus = 4},
                         {.qos = "high", .account = "vision", .user = "bob", .gpus = 1}};
  const auto service = steer_slurm::SlurmService::open({.state = folder / "state"},
                                                       std::make_unique<FakeLink>(slurm));
  ASSERT_TRUE(service) << to_string(service.error());
  const auto tenancy = (*service)->tenancy();
  ASSERT_TRUE(tenancy) << to_string(tenancy.error());
  std::map<std::string, double> limits;
  for (const service::TenantView& each : tenancy->tenants) {
    if (!std::isnan(each.limit)) limits[each.name] = each.limit;
  }
  const std::map<std::string, double> expected{{"guests", 8}, {"vision/ann", 4}};
  EXPECT_EQ(limits, expected) << "neither of eve, who has no part of her own, nor of a QOS";
}

TEST(Tenants, AreUsersWhereSlurmKeepsNoFairShare) {
  FakeSlurm slurm = with_queue({{"vision", "ann"}, {"vision", "bob"}});
  Desk desk(slurm, "fair_share", with("order"));
  desk.live(2, 0s);
  EXPECT_EQ(slurm.queue(), (Numbers{3, 2})) << "ann has a job that runs";
}

}  // namespace
}  // namespace almanac::steer
