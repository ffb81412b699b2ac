// SPDX-License-Identifier: Apache-2.0
#include "service/tenancy.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace almanac::service {
namespace {

using trace::JobState;

constexpr Duration kHalfLife = 1000s;

store::Job job(const std::string& vc, const std::string& user, int gpus, Duration submit,
               Duration start, Duration end) {
  store::Job made;
  made.asked = store::Submission{.user = user, .vc = vc, .gpus = gpus};
  made.submit = Time{submit};
  made.start = made.since = Time{start};
  made.end = Time{end};
  made.attained = end - start;
  made.state = JobState::completed;
  return made;
}

TenantOf by_name(const cluster::Cluster& cluster) {
  return [&cluster](const store::Job& each) { return tenant_of(each, cluster); };
}

// The case of experiment/dues_test.cpp: four GPUs for 100 s; ann has them for 80 s, then bob, who
// came at 0 too, two of them.
TEST(Tenancy, OfUsersIsWhatASimulationSaysOfTheSameJobs) {
  const cluster::Cluster cluster = cluster::uniform(1, 4);
  const std::vector<store::Job> jobs{job("", "ann", 4, 0s, 0s, 80s),
                                     job("", "bob", 2, 0s, 80s, 100s)};
  const Tenancy made = tenancy_of(jobs, cluster, by_name(cluster), Time{100s}, kHalfLife);
  EXPECT_FALSE(made.by_tenant);
  ASSERT_EQ(made.tenants.size(), 2U);
  EXPECT_EQ(made.tenants[0].name, "ann");
  EXPECT_NEAR(made.tenants[0].used_gpu_s, 320, 0.1);
  EXPECT_NEAR(made.tenants[0].fair_share_gpu_s, 160, 0.1);
  EXPECT_NEAR(made.tenants[1].used_gpu_s, 40, 0.1);
  EXPECT_NEAR(made.tenants[1].fair_share_gpu_s, 200, 0.1);
  EXPECT_EQ(made.worst, "bob");
  EXPECT_NEAR(made.worst_fair_share, 0.2, 1e-3);
  EXPECT_NEAR(made.finish_time_ratio, 3, 1e-3);
  EXPECT_EQ(
      beside_its_due(made, "ann"),
      "user ann got 100 % more than its fair share in the last 1m 40s (0.089 of 0.044 GPU-hours)");
}

// In the last half-life one GPU counts h / ln 2 x 1/2, in the one before half of that.
TEST(Tenancy, ForgetsUseWithItsHalfLife) {
  const cluster::Cluster cluster = cluster::uniform(1, 4);
  const std::vector<store::Job> jobs{job("", "ann", 1, 0s, 0s, 1000s),
                                     job("", "bob", 1, 0s, 1000s, 2000s)};
  const Tenancy made = tenancy_of(jobs, cluster, by_name(cluster), Time{2000s}, kHalfLife);
  EXPECT_NEAR(made.tenants[0].use_gpu_s, 250 / std::log(2.0), 1e-6);
  EXPECT_NEAR(made.tenants[1].use_gpu_s, 500 / std::log(2.0), 1e-6);
}

// Use of before the days that the dues are of counts all the same, and only there.
TEST(Tenancy, CountsUseOfBeforeTheDues) {
  const cluster::Cluster cluster = cluster::uniform(1, 4);
  const Duration now = kDuesOver + 2000s;
  const std::vector<store::Job> jobs{job("", "ann", 1, 0s, 0s, 1000s),
                                     job("", "bob", 1, now - 10s, now - 10s, now)};
  const Tenancy made = tenancy_of(jobs, cluster, by_name(cluster), Time{now}, kDuesOver);
  EXPECT_EQ(made.from, Time{now - kDuesOver});
  EXPECT_EQ(made.tenants[1].name, "ann");
  EXPECT_EQ(made.tenants[1].used_gpu_s, 0);
  EXPECT_NEAR(made.tenants[1].use_gpu_s, 500, 5);
}

// A tree: lab has 3 GPUs, of which vision has 2 and speech 1; guests has 1. Vision requests nothing
// and speech requests all four, so the fair share of speech is 3. Guests requests one.
TEST(Tenancy, OfATreeAddsUpAndSaysWhoLent) {
  cluster::Cluster cluster = cluster::uniform(1, 4);
  cluster.tenants = {{.name = "lab", .guarantee = 3},
                     {.name = "guests", .guarantee = 1},
                     {.name = "vision", .parent = 0, .guarantee = 2},
                     {.name = "speech", .parent = 0, .guarantee = 1}};
  store::Job runs = job("speech", "ann", 4, 0s, 0s, 0s);
  runs.state = JobState::running;
  runs.end = kNoTime;
  store::Job waits = job("guests", "bob", 1, 0s, 0s, 0s);
  waits.state = JobState::pending;
  waits.start = waits.end = kNoTime;
  const std::vector<store::Job> jobs{runs, waits};
  const Tenancy made = tenancy_of(jobs, cluster, by_name(cluster), Time{100s}, kHalfLife);
  EXPECT_TRUE(made.by_tenant);
  ASSERT_EQ(made.tenants.size(), 4U);
  EXPECT_EQ(made.tenants[0].name, "lab");
  EXPECT_EQ(made.tenants[1].name, "vision");
  EXPECT_EQ(made.tenants[1].parent, "lab");
  EXPECT_EQ(made.tenants[2].name, "speech");
  EXPECT_EQ(made.tenants[3].name, "guests");
  EXPECT_EQ(made.tenants[0].gpus_held, 4);
  EXPECT_EQ(made.tenants[3].gpus_waiting, 1);
  EXPECT_NEAR(made.tenants[2].used_gpu_s, 400, 0.1);
  EXPECT_NEAR(made.tenants[2].fair_share_gpu_s, 300, 0.1);
  EXPECT_NEAR(made.tenants[0].fair_share_gpu_s, 300, 0.1);
  EXPECT_EQ(made.worst, "guests");
  ASSERT_EQ(made.loans.size(), 1U);
  EXPECT_EQ(made.loans[0].from, "vision");
  EXPECT_EQ(made.loans[0].to, "speech");
  EXPECT_NEAR(made.loans[0].gpu_s, 200, 0.1);
  EXPECT_EQ(beside_its_due(made, "speech"),
            "tenant speech got 33 % more than its fair share in the last 1m 40s (0.11 of 0.083 "
            "GPU-hours)");
  EXPECT_EQ(beside_its_due(made, "nobody"), "");
}

TEST(Tenancy, SaysWhatEachTenantMayHoldAtMost) {
  cluster::Cluster cluster = cluster::uniform(1, 4);
  cluster.tenants = {{.name = "lab", .guarantee = 3, .limit = 4},
                     {.name = "vision", .parent = 0, .guarantee = 2},
                     {.name = "guests", .guarantee = 1, .limit = 2, .may_borrow = false}};
  const Tenancy made = tenancy_of({}, cluster, by_name(cluster), Time{100s}, kHalfLife);
  ASSERT_EQ(made.tenants.size(), 3U);
  EXPECT_EQ(made.tenants[0].limit, 4);
  EXPECT_TRUE(std::isnan(made.tenants[1].limit)) << "beside that of the tenant above it";
  EXPECT_EQ(made.tenants[2].limit, 1) << "it may not borrow";
}

TEST(TenancyKeeper, WorksItOutAgainAfterSomeSeconds) {
  FakeClock clock;
  const TenancyKeeper keeper(clock);
  int made = 0;
  const auto make = [&] {
    ++made;
    return Result<Tenancy>(Tenancy{});
  };
  ASSERT_TRUE(keeper.get(make));
  clock.advance(4s);
  ASSERT_TRUE(keeper.get(make));
  EXPECT_EQ(made, 1);
  clock.advance(1s);
  ASSERT_TRUE(keeper.get(make));
  EXPECT_EQ(made, 2);
}

TEST(TenancyKeeper, TriesAgainAtOnceAfterAFailure) {
  const FakeClock clock;
  const TenancyKeeper keeper(clock);
  EXPECT_FALSE(keeper.get([]() -> Result<Tenancy> { return fail(Code::unavailable, "no store"); }));
  EXPECT_TRUE(keeper.get([] { return Result<Tenancy>(Tenancy{}); }));
}

}  // namespace
}  // namespace almanac::service
