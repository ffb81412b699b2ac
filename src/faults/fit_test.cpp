// SPDX-License-Identifier: Apache-2.0
#include "faults/fit.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "faults/model_file.h"

namespace almanac::faults {
namespace {

using End = PastRun::End;

// Garwood's table: of 10 counted events 4.795 to 18.390 were expected, of none up to 3.689.
TEST(PoissonRate, HasTheExactInterval) {
  const Rate ten = poisson_rate(10, 1000);
  EXPECT_DOUBLE_EQ(ten.per_day, 0.01);
  EXPECT_NEAR(ten.low, 0.004795, 1e-6);
  EXPECT_NEAR(ten.high, 0.018390, 1e-6);
  const Rate none = poisson_rate(0, 1000);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.003689, 1e-6);
  EXPECT_NEAR(poisson_rate(1, 1).low, 0.02532, 1e-5);
}

TEST(FitTest, CountsNodeFailuresOverTheDaysOfTheirNodes) {
  std::vector<PastRun> runs(20, {.gpus = 16, .nodes = 2, .days = 5});
  for (int failed = 0; failed < 4; ++failed)
    runs[static_cast<std::size_t>(failed)].end = End::node_failed;
  const Fit made = fit(runs);
  EXPECT_DOUBLE_EQ(made.node.per_day, 4.0 / 200);
  EXPECT_EQ(made.user.per_day, 0);
  ASSERT_EQ(made.sizes.size(), 1U);
  EXPECT_EQ(made.sizes[0].from, 9);
  EXPECT_DOUBLE_EQ(made.sizes[0].rate.per_day, 4.0 / 100);
  EXPECT_NEAR(made.sizes[0].fitted, 4.0 / 100, 1e-12);
}

// 100 job-days on a GPU with 3 failures, 100 on four with 6: 3 = 100 (user + software) and
// 6 = 100 (user + 4 software) have the solution 0.02 and 0.01.
TEST(FitTest, TellsWhatFailsByGpuFromWhatFailsByJob) {
  std::vector<PastRun> runs;
  for (int run = 0; run < 100; ++run) {
    runs.push_back({.gpus = 1, .days = 1, .end = run < 3 ? End::failed : End::other});
    runs.push_back({.gpus = 4, .days = 1, .end = run < 6 ? End::failed : End::other});
  }
  const Fit made = fit(runs);
  EXPECT_NEAR(made.user.per_day, 0.02, 1e-6);
  EXPECT_NEAR(made.software.per_day, 0.01, 1e-6);
}

// 1000 job-days on a GPU with 20 failures and 1000 on eight with 19: more GPUs do not make jobs
// fail more often, so the most likely rate of a GPU is 0, not a small number.
TEST(FitTest, LeavesNothingOfARateThatIsZero) {
  std::vector<PastRun> runs;
  for (int run = 0; run < 1000; ++run) {
    runs.push_back({.gpus = 1, .days = 1, .end = run < 20 ? End::failed : End::other});
    runs.push_back({.gpus = 8, .days = 1, .end = run < 19 ? End::failed : End::other});
  }
  const Fit made = fit(runs);
  EXPECT_EQ(made.software.per_day, 0);
  EXPECT_DOUBLE_EQ(made.user.per_day, 39.0 / 2000);
  // 10 and 90 instead: more than eight times as many, which is all that GPUs can explain.
  for (PastRun& run : runs) run.end = End::other;
  for (std::size_t failed = 0; failed < 90; ++failed) {
    if (failed < 10) runs[2 * failed].end = End::failed;
    runs[2 * failed + 1].end = End::failed;
  }
  const Fit steep = fit(runs);
  EXPECT_EQ(steep.user.per_day, 0);
  EXPECT_DOUBLE_EQ(steep.software.per_day, 100.0 / 9000);
}

// Of 3 counted failures up to 8.767 were expected (Garwood), of the jobs or of their GPUs.
TEST(FitTest, HasAnIntervalIfAllFailedRunsHaveOneSize) {
  std::vector<PastRun> runs(100, {.gpus = 1, .days = 1});
  for (std::size_t failed = 0; failed < 3; ++failed) runs[failed].end = End::failed;
  const Fit made = fit(runs);
  EXPECT_NEAR(made.user.high, 0.08767, 1e-5);
  EXPECT_NEAR(made.software.high, 0.08767, 1e-5);
  EXPECT_EQ(made.user.low, 0);
}

TEST(FitTest, FindsTheRatesThatMadeTheLog) {
  int outside = 0;
  constexpr int kLogs = 40;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    Rng rng(seed);
    std::vector<PastRun> runs;
    for (int run = 0; run < 5000; ++run) {
      PastRun& made = runs.emplace_back(PastRun{.gpus = 1 << rng.below(6)});
      made.nodes = (made.gpus + 7) / 8;
      const double node = rng.exponential() / (0.01 * made.nodes);
      const double own = rng.exponential() / (0.02 + 0.005 * made.gpus);
      made.days = std::min({node, own, 3.0});
      if (made.days < 3) made.end = node < own ? End::node_failed : End::failed;
    }
    const Fit made = fit(runs);
    const auto misses = [](const Rate& rate, double truth) {
      return rate.low > truth || rate.high < truth ? 1 : 0;
    };
    outside += misses(made.node, 0.01) + misses(made.user, 0.02) + misses(made.software, 0.005);
  }
  // 5 % of 120 are 6; more than 14 has probability 0.1 %.
  EXPECT_LE(outside, 14);
  EXPECT_GE(outside, 1);
}

TEST(FitTest, FindsANodeThatFailsFarMoreOften) {
  std::vector<PastRun> runs;
  for (int node = 0; node < 50; ++node) {
    for (int run = 0; run < 20; ++run) {
      runs.push_back({.gpus = 8, .days = 5, .on = {node}, .start = Time{run * 5 * 24h}});
    }
  }
  for (std::size_t run = 0; run < 6; ++run) runs[7 * 20 + run].end = End::node_failed;
  runs[0].end = runs[20].end = End::node_failed;
  const Fit made = fit(runs);
  EXPECT_THAT(made.lemons, testing::ElementsAre(7));
  EXPECT_EQ(made.nodes, 50);
  EXPECT_NEAR(made.lemon_factor, (6 / 100.0) / (2 / 4900.0), 1e-9);
}

// Eight jobs of a GPU share node 0 for ten days until it crashes; eight others have node 1 for ten
// days. One more job on node 0 runs later. This is one failure in 20 + 5 days, not 8 in 165.
TEST(FitTest, CountsACrashOfASharedNodeOnce) {
  std::vector<PastRun> runs;
  for (int job = 0; job < 8; ++job) {
    runs.push_back({.gpus = 1, .days = 10, .end = End::node_failed, .on = {0}});
    runs.push_back({.gpus = 1, .days = 10, .on = {1}});
  }
  runs.push_back({.gpus = 8, .days = 5, .on = {0}, .start = Time{20 * 24h}});
  const Fit made = fit(runs);
  EXPECT_EQ(made.node.failures, 1U);
  EXPECT_NEAR(made.node.days, 25, 1e-9);
  EXPECT_TRUE(made.lemons.empty());
  EXPECT_EQ(made.unnamed, 0U);
  // Each of its jobs was stopped: 8 in 160 job-days, as uncertain as one failure.
  EXPECT_EQ(made.sizes[0].failed, 8U);
  EXPECT_NEAR(made.sizes[0].rate.per_day, 8.0 / 160, 1e-12);
  EXPECT_NEAR(made.sizes[0].rate.low, 0.02532 * 8 / 160, 1e-6);
}

// Both jobs were on node 1 when it crashed; a job that ends there two minutes later met another
// failure, and so did a job on node 3 at the same time.
TEST(FitTest, JoinsWhatEndsTogetherOnOneNode) {
  const double later = 10 + 2.0 / (24 * 60);
  const std::vector<PastRun> runs = {
      {.gpus = 16, .nodes = 2, .days = 10, .end = End::node_failed, .on = {0, 1}},
      {.gpus = 16, .nodes = 2, .days = 10, .end = End::node_failed, .on = {1, 2}},
      {.gpus = 8, .days = later, .end = End::node_failed, .on = {2}},
      {.gpus = 8, .days = 10, .end = End::node_failed, .on = {3}}};
  EXPECT_EQ(fit(runs).node.failures, 3U);
}

// Every job has one GPU, and 3 in 100 fail: nothing says that the cluster was the cause.
TEST(FitTest, FailuresThatDoNotDependOnGpusAreErrorsOfUsers) {
  std::vector<PastRun> runs(100, {.gpus = 1, .days = 1});
  for (std::size_t failed = 0; failed < 3; ++failed) runs[failed].end = End::failed;
  runs[3].end = End::node_failed;
  const Fit made = fit(runs);
  EXPECT_NEAR(made.user.per_day, 0.03, 1e-12);
  EXPECT_FALSE(made.software.any());
  const std::string text = to_toml(made, "x");
  EXPECT_THAT(text, testing::HasSubstr("# Errors of users: 30 FAILED jobs per 1,000 job-days"));
  EXPECT_THAT(text, testing::HasSubstr("does not name the nodes of 1 NODE_FAIL jobs"));
  const auto model = parse_model(text, "fitted");
  ASSERT_TRUE(model) << to_string(model.error());
  EXPECT_EQ(model->job_per_day(8), 0);
  EXPECT_EQ(model->checkpoints.every, 1h);
}

TEST(FitTest, WritesAModelThatSimulateReads) {
  std::vector<PastRun> runs(1000, {.gpus = 8, .days = 2});
  for (std::size_t run = 0; run < 12; ++run) runs[run].end = End::node_failed;
  for (std::size_t run = 20; run < 23; ++run) runs[run].end = End::failed;
  runs[20].gpus = 1;
  const std::string text = to_toml(fit(runs), "log.csv");
  EXPECT_THAT(text,
              testing::HasSubstr("per_1000_days = 6  # 95 %: 3.1 to 10.5; 12 in 2000 node-days"));
  EXPECT_THAT(text, testing::HasSubstr("too few to rely on"));
  const auto model = parse_model(text, "fitted");
  ASSERT_TRUE(model) << to_string(model.error());
  EXPECT_NEAR(model->node_per_day(8), 0.006, 1e-9);
  // Without failures nothing is claimed.
  EXPECT_THAT(
      to_toml(fit(std::vector<PastRun>(10, {.gpus = 1, .days = 1})), "x"),
      testing::HasSubstr("# node failure: none in 10 node-days, so fewer than 369 per 1,000"));
}

TEST(FitTest, ClaimsNoRateWhereNothingWasWatched) {
  const std::vector<SeenCause> causes{{.name = "NCCL error", .of = Unit::link, .failures = 2}};
  const std::string text =
      to_toml(causes, std::vector<PastRun>(3, {.gpus = 8, .days = 2}), "the output of jobs");
  EXPECT_THAT(text, testing::HasSubstr("# NCCL error: no rate of its 2 failures, because there are "
                                       "no node-days of jobs on several nodes\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("[[cause]]")));
}

}  // namespace
}  // namespace almanac::faults
