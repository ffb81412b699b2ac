// SPDX-License-Identifier: Apache-2.0
#include "experiment/dues.h"

#include <tuple>

#include <gtest/gtest.h>

namespace almanac::experiment {
namespace {

/// Four GPUs for 100 s. The first job, of `who[0]`, has four from 0 to 80 s; the second came at 0
/// too, asks two, and has them from 80 to 100 s.
struct Played {
  trace::Trace trace;
  cluster::Cluster cluster = cluster::uniform(1, 4);
  sim::Schedule schedule;
};

Played two_jobs() {
  Played made;
  std::vector<policy::Progress> progress;
  for (const auto& [user, gpus, run] : {std::tuple{"ann", 4, 80s}, std::tuple{"bob", 2, 20s}}) {
    trace::Job& job = made.trace.jobs.emplace_back();
    job.request.gpus = gpus;
    job.request.user = made.trace.names.intern(user);
    job.outcome.run = run;
    const Time start = progress.empty() ? Time{} : Time{80s};
    progress.push_back(
        {.start = start, .end = start + run, .attained = run, .phase = policy::Phase::ended});
  }
  made.schedule.begin = Time{};
  made.schedule.finish = Time{100s};
  made.schedule.total_gpu_s = 400;
  made.schedule.jobs = sim::JobResults(progress, Time{100s});
  return made;
}

// Each is due half while both ask: 160 and 160 GPU-seconds up to 80 s, then 40 of 40 to bob.
TEST(Dues, OfUsersAreEqualParts) {
  const Played run = two_jobs();
  const Dues dues = judge(run.trace, run.cluster, run.schedule);
  EXPECT_FALSE(dues.by_tenant);
  ASSERT_EQ(dues.owners.size(), 2U);
  EXPECT_EQ(dues.owners[0].name, "user ann");
  EXPECT_NEAR(dues.owners[0].used_gpu_s, 320, 0.1);
  EXPECT_NEAR(dues.owners[0].fair_share_gpu_s, 160, 0.1);
  EXPECT_NEAR(dues.owners[1].used_gpu_s, 40, 0.1);
  EXPECT_NEAR(dues.owners[1].fair_share_gpu_s, 200, 0.1);
  EXPECT_EQ(dues.worst, 1U);
  EXPECT_NEAR(dues.worst_part, 0.2, 1e-3);
  EXPECT_NEAR(dues.share_error, 320.0 / 360 - 160.0 / 360, 1e-3);
  // There is room for all jobs at once: 80 / 80 and 100 / 20.
  EXPECT_NEAR(dues.finish_ratio, 3, 1e-3);
  EXPECT_NEAR(dues.unfair_jobs, 0.5, 1e-9);
  EXPECT_TRUE(dues.loans.empty()) << "users own nothing that they could lend";
}

// Of guarantees of one and three GPUs ann has one. Bob asks two of his three, so that he lends her
// one for 80 s; the two others he is due.
TEST(Dues, OfTenantsAreGuarantees) {
  Played run = two_jobs();
  run.cluster.tenants = {{.name = "ann", .guarantee = 1}, {.name = "bob", .guarantee = 3}};
  std::vector<policy::Progress> progress;
  for (std::uint16_t job = 0; job < 2; ++job) {
    const sim::JobResult result = run.schedule.jobs[job];
    progress.push_back({.start = result.start,
                        .end = result.end,
                        .attained = result.ran,
                        .tenant = TenantId{job},
                        .phase = result.phase});
  }
  run.schedule.jobs = sim::JobResults(progress, Time{100s});
  const Dues dues = judge(run.trace, run.cluster, run.schedule);
  EXPECT_TRUE(dues.by_tenant);
  EXPECT_EQ(dues.owners[1].name, "tenant bob");
  EXPECT_NEAR(dues.owners[0].fair_share_gpu_s, 2 * 80, 0.1) << "bob asks two, and she what is left";
  EXPECT_NEAR(dues.owners[1].fair_share_gpu_s, 2 * 100, 0.1);
  ASSERT_EQ(dues.loans.size(), 1U);
  EXPECT_EQ(dues.loans[0].from, 1U);
  EXPECT_EQ(dues.loans[0].to, 0U);
  EXPECT_NEAR(dues.loans[0].gpu_s, 80, 0.1);
  EXPECT_NEAR(dues.owners[0].borrowed_gpu_s, 3 * 80, 0.1);
  EXPECT_NEAR(dues.owners[1].lent_gpu_s, 80, 0.1);
}

TEST(Dues, NeedTwoOwners) {
  Played run = two_jobs();
  run.trace.jobs[1].request.user = run.trace.jobs[0].request.user;
  EXPECT_TRUE(judge(run.trace, run.cluster, run.schedule).owners.empty());
}

}  // namespace
}  // namespace almanac::experiment
