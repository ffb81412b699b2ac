// SPDX-License-Identifier: Apache-2.0

/// \file
/// Under the age cap of a service no job starves, whatever the policy: one that has waited for the
/// cap starts once the jobs that run then have ended, and an endless stream of others does not keep
/// it from that.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "conformance/days.h"
#include "conformance/names.h"
#include "policy/registry.h"
#include "support/play.h"
#include "support/rules.h"

namespace almanac {
namespace {

class EveryPolicyUnderAnAgeCap : public testing::TestWithParam<std::string> {
 protected:
  static constexpr Duration kCap = 10min;
  static constexpr Duration kRun = 60s;  // of a job of the stream

  /// A job of 4 GPUs, all there are, beside jobs of one GPU that come faster than they can run,
  /// with a tier of `tier`.
  static Case stream(int tier = 0) {
    Case made;
    made.policy = GetParam();
    made.cluster = cluster::uniform(1, 4);
    made.age_cap = kCap;
    made.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
    const auto add = [&](const std::string& id, Duration submit, int gpus, Duration run,
                         const char* user, int of_tier) {
      add_job(made.trace, {.id = id,
                           .submit = submit,
                           .gpus = gpus,
                           .run = run,
                           .user = user,
                           .limit = run,
                           .predicted = run,
                           .tier = of_tier});
    };
    for (int job = 0; job < 600; ++job) {
      if (job == 1) add("large", 5s, 4, 1000s, "bob", 0);
      add(std::to_string(job), job * 10s, 1, kRun, job % 2 == 0 ? "ann" : "bob", tier);
    }
    return made;
  }
};

TEST_P(EveryPolicyUnderAnAgeCap, NobodyStarves) {
  const Case input = stream();
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{});
  const sim::JobResult& large = played->result.jobs[1];
  ASSERT_NE(large.start, kNoTime);
  EXPECT_LE(large.start, Time{5s} + kCap + kRun);
}

TEST_P(EveryPolicyUnderAnAgeCap, NobodyStarvesBehindAHigherTier) {
  const Case input = stream(1);
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{});
  const sim::JobResult& large = played->result.jobs[1];
  ASSERT_NE(large.start, kNoTime);
  EXPECT_LE(large.start, Time{5s} + kCap + kRun);
}

TEST_P(EveryPolicyUnderAnAgeCap, KeepsTheRules) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const bool trains : {false, true}) {
      Case input = trains ? crowded_day_with_training(seed) : crowded_day_with_parts(seed);
      input.policy = GetParam();
      input.age_cap = 5min;
      const Result<Played> played = play(input);
      ASSERT_TRUE(played) << to_string(played.error());
      EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{}) << "seed " << seed;
    }
  }
}

// As where a service begins again, and jobs come that have waited for longer already.
TEST_P(EveryPolicyUnderAnAgeCap, KeepsTheRulesWhereJobsAreTooOldAsTheyCome) {
  Case input = crowded_day(4);
  input.policy = GetParam();
  input.age_cap = 0s;
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{});
}

TEST_P(EveryPolicyUnderAnAgeCap, IsNotDisturbedByBeingAsked) {
  Case input = stream();
  const Result<Played> alone = play(input);
  input.options.watch.job = JobId{1};
  const Result<Played> watched = play(input);
  ASSERT_TRUE(alone && watched);
  for (std::size_t job = 0; job < alone->result.jobs.size(); ++job) {
    EXPECT_EQ(alone->result.jobs[job].end, watched->result.jobs[job].end);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicyUnderAnAgeCap, testing::ValuesIn(named_policies()),
                         test_name);

TEST(AgeCap, KeepsGpusForTheOldestAndSaysSo) {
  Case input;
  input.policy = "fifo+scan";
  input.cluster = cluster::uniform(1, 2);
  input.age_cap = 60s;
  add_job(input.trace, {.id = "first", .run = 100s});
  add_job(input.trace, {.id = "large", .submit = 10s, .gpus = 2, .run = 50s});
  add_job(input.trace, {.id = "second", .submit = 20s, .run = 60s});
  add_job(input.trace, {.id = "late", .submit = 75s, .run = 10s});
  input.options.watch.job = JobId{3};
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  const auto& jobs = played->result.jobs;
  EXPECT_EQ(jobs[1].start, Time{100s});  // at 70 s it is too old, and what ends at 80 s is kept
  EXPECT_EQ(jobs[3].start, Time{150s});
  const auto said = [&](Time at) {
    for (const sim::Wait& wait : played->result.waits) {
      if (wait.from <= at && at < wait.until) return wait.reason;
    }
    return policy::Reason{};
  };
  EXPECT_EQ(said(Time{90s}).kind, policy::ReasonKind::set_aside);
  EXPECT_EQ(said(Time{90s}).other, JobId{1});
  input.options.watch.job = JobId{1};
  const Result<Played> again = play(input);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->result.waits.back().reason.kind, policy::ReasonKind::oldest);
}

// Old jobs go before all priority tiers, those that wait as those that run: else each that waits
// would stop the one that runs.
TEST(AgeCap, OldJobsDoNotStopEachOther) {
  Case input;
  input.policy = "almanac+preempt:all";
  input.cluster = cluster::uniform(1, 4);
  input.age_cap = 60s;
  input.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
  for (int job = 0; job < 4; ++job) {
    add_job(
        input.trace,
        {.id = std::to_string(job), .submit = job * 1s, .gpus = 4, .run = 1000s, .limit = 1000s});
  }
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  for (int job = 1; job < 4; ++job) {
    EXPECT_EQ(played->result.jobs[static_cast<std::size_t>(job)].preemptions, 0U) << job;
  }
}

// The tasks of `wide` fill two nodes, which jobs of half a node would never leave empty at once.
TEST(AgeCap, KeepsAsManyNodesAsTheTasksOfACpuJobNeed) {
  Case input;
  input.policy = "fifo+scan";
  input.cluster = cluster::uniform(2, 1);
  input.cluster.classes.front().cpus = 4;
  input.age_cap = 60s;
  for (int job = 0; job < 60; ++job) {
    if (job == 1) {
      add_job(input.trace, {.id = "wide", .submit = 5s, .gpus = 0, .run = 50s, .cpus = 8});
      input.trace.jobs.back().request.nodes = 2;
    }
    add_job(input.trace,
            {.id = std::to_string(job), .submit = job * 10s, .gpus = 0, .run = 60s, .cpus = 2});
  }
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  EXPECT_EQ(broken_rules(input, *played), std::vector<std::string>{});
  // At 65 s it is too old. The last job that runs then started at 60 s.
  EXPECT_EQ(played->result.jobs[1].start, Time{120s});
}

// A pass with reservations lets others run until the oldest can start.
TEST(AgeCap, OthersPassTheOldestIfTheyDelayItNot) {
  Case input;
  input.policy = "sjf+easy+given:always";
  input.cluster = cluster::uniform(1, 2);
  input.age_cap = 60s;
  add_job(input.trace, {.id = "first", .run = 100s, .predicted = 100s});
  add_job(input.trace, {.id = "large", .submit = 10s, .gpus = 2, .run = 50s, .predicted = 50s});
  for (int job = 0; job < 30; ++job) {
    add_job(input.trace,
            {.id = std::to_string(job), .submit = 15s + job * 10s, .run = 10s, .predicted = 10s});
  }
  input.options.watch.job = JobId{1};
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  const auto& jobs = played->result.jobs;
  EXPECT_EQ(jobs[1].start, Time{100s});     // at 70 s it is too old
  EXPECT_EQ(jobs[2 + 7].start, Time{85s});  // ends at 95 s, before the large one starts
  EXPECT_EQ(played->result.waits.back().reason.kind, policy::ReasonKind::oldest);
}

// Jobs that are believed to take 1 s and take 60 s: each could pass, and delays the oldest.
TEST(AgeCap, JobsBelievedTooShortDelayTheOldestOnce) {
  Case input;
  input.policy = "sjf+easy+given:always";
  input.cluster = cluster::uniform(1, 4);
  input.age_cap = 600s;
  for (int job = 0; job < 600; ++job) {
    if (job == 1) {
      add_job(input.trace,
              {.id = "large", .submit = 5s, .gpus = 4, .run = 1000s, .predicted = 1000s});
    }
    add_job(input.trace,
            {.id = std::to_string(job), .submit = job * 10s, .run = 60s, .predicted = 1s});
  }
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  const Time start = played->result.jobs[1].start;
  ASSERT_NE(start, kNoTime);
  EXPECT_LE(start, Time{5s + 600s + 600s + 2 * 60s});
}

// Short jobs that come every 10 s stop the long one, until it has waited for the cap; then it keeps
// its GPU for as long.
TEST(AgeCap, LetsAJobThatWasStoppedRunForAsLongAsItWaited) {
  Case input;
  input.policy = "srtf+oracle";
  input.cluster = cluster::uniform(1, 1);
  input.age_cap = 100s;
  input.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
  add_job(input.trace, {.id = "long", .run = 1000s});
  for (int job = 0; job < 60; ++job) {
    add_job(input.trace, {.id = std::to_string(job), .submit = 10s + job * 10s, .run = 10s});
  }
  const Result<Played> played = play(input);
  ASSERT_TRUE(played) << to_string(played.error());
  std::vector<std::pair<Duration, Duration>> runs;
  for (const almanac::Run& run : played->runs) {
    if (run.job == JobId{0}) {
      runs.emplace_back(run.start.time_since_epoch(), run.end.time_since_epoch());
    }
  }
  ASSERT_GE(runs.size(), 2U);
  EXPECT_EQ(runs[0], (std::pair<Duration, Duration>{0s, 10s}));
  EXPECT_EQ(runs[1], (std::pair<Duration, Duration>{110s, 210s}));
}

}  // namespace
}  // namespace almanac
