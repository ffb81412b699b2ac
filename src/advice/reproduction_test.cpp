// SPDX-License-Identifier: Apache-2.0
#include "advice/reproduction.h"

#include <gtest/gtest.h>

#include "advice/candidates.h"

namespace almanac::advice {
namespace {

/// One node of eight GPUs. Jobs of all GPUs for an hour, a day apart: nothing makes them wait but
/// what the log says of each.
trace::Trace lonely_jobs(const std::vector<Duration>& recorded_waits) {
  trace::Trace log;
  for (std::size_t at = 0; at < recorded_waits.size(); ++at) {
    trace::Job& job = log.jobs.emplace_back();
    job.id = trace::JobKey{at + 1};
    job.request.submit = Time{24h * (20'000 + static_cast<int>(at))};
    job.request.gpus = at % 2 == 0 ? 8 : 1;
    job.request.partition = log.names.intern(at % 2 == 0 ? "large" : "small");
    job.request.time_limit = 2h;
    job.outcome.run = 1h;
    job.outcome.start = job.request.submit + recorded_waits[at];
    job.outcome.end = job.outcome.start + 1h;
    job.outcome.state = trace::JobState::completed;
  }
  return log;
}

Reproduction of(trace::Trace log) {
  const auto play = Play::of(std::move(log), cluster::uniform(1, 8), 24h * 28, {});
  EXPECT_TRUE(play) << to_string(play.error());
  const auto today = play->under(slurm_today(play->log(), false));
  return reproduction_of(*play, *today);
}

TEST(Reproduction, CountsWaitsThatAreNearTheRecordedOnes) {
  // Simulated waits are seconds. Two are exact, one is within ten minutes, one is an hour off.
  const Reproduction found = of(lonely_jobs({0s, 0s, 5min, 1h}));
  EXPECT_EQ(found.all.jobs, 4);
  EXPECT_EQ(found.all.waited, 1) << "longer than ten minutes";
  EXPECT_DOUBLE_EQ(found.all.near, 0.75);
  EXPECT_DOUBLE_EQ(found.all.tenth, 0.5);
  EXPECT_DOUBLE_EQ(found.all.recorded_s, (300 + 3600) / 4.0);
  ASSERT_EQ(found.partitions.size(), 2U);
  EXPECT_EQ(found.partitions[0].who, "jobs in large");
  EXPECT_DOUBLE_EQ(found.partitions[0].near, 1);
  EXPECT_DOUBLE_EQ(found.partitions[1].near, 0.5);
  ASSERT_EQ(found.sizes.size(), 2U);
  EXPECT_EQ(found.sizes[0].who, "jobs of 1 GPU");
  ASSERT_EQ(found.most.size(), 1U);
  EXPECT_EQ(found.most[0].job, "4");
  EXPECT_EQ(found.most[0].cause, Cause::unknown);
}

TEST(Reproduction, NamesTheLikelyCause) {
  trace::Trace log = lonely_jobs({1h, 2h, 3h, 4h, 5h});
  log.jobs[0].request.reservation = log.names.intern("maint");
  log.jobs[1].outcome.reason = log.names.intern("JobHeldUser");
  log.jobs[2].outcome.reason = log.names.intern("QOSMaxGRESPerUser");
  log.jobs[3].outcome.attempts = 2;
  log.jobs[4].outcome.reason = log.names.intern("None");
  std::map<Cause, std::int64_t> causes;
  for (const auto& [cause, jobs] : of(std::move(log)).causes) causes[cause] = jobs;
  EXPECT_EQ(causes, (std::map<Cause, std::int64_t>{{Cause::reservation, 1},
                                                   {Cause::hold, 1},
                                                   {Cause::limit, 1},
                                                   {Cause::requeue, 1},
                                                   {Cause::unknown, 1}}));
}

TEST(Reproduction, SaysWhatOtherSecondsOfBackfillsCyclesChange) {
  const auto waited = [](double wait_s) { return Lived{.wait_s = wait_s, .ended = true}; };
  // One of three jobs waits 700 s less; the fourth does not end in one of the simulations.
  const PhaseEffect found = phase_effect({waited(0), waited(700), waited(100), waited(9000)},
                                         {waited(0), waited(0), waited(150), Lived{}}, 15);
  EXPECT_DOUBLE_EQ(found.shift_s, 15);
  EXPECT_DOUBLE_EQ(found.changed, 1.0 / 3);
  EXPECT_DOUBLE_EQ(found.simulated_s, 50);
}

TEST(Reproduction, BeginsWithWhatRanAndWaitedThen) {
  // Sixty days; the last four weeks count, so the simulation begins on day 24. A job of four GPUs
  // runs from day 10 to day 50. A job of all GPUs waits for it from day 20, and is followed by one
  // that is submitted on day 45.
  trace::Trace log;
  const auto add = [&](int day, int gpus, int starts, Duration run) {
    trace::Job& job = log.jobs.emplace_back();
    job.id = trace::JobKey{log.jobs.size()};
    job.request.submit = Time{24h * (20'000 + day)};
    job.request.gpus = gpus;
    job.request.time_limit = run;
    job.outcome.run = run;
    job.outcome.start = Time{24h * (20'000 + starts)};
    job.outcome.end = job.outcome.start + run;
    job.outcome.state = trace::JobState::completed;
  };
  for (int day = 0; day < 10; ++day) add(day, 8, day, 1h);
  add(10, 4, 10, 24h * 40);
  add(20, 8, 50, 24h * 2);
  add(45, 8, 52, 1h);
  add(59, 1, 59, 1h);
  const Reproduction found = of(std::move(log));
  EXPECT_EQ(found.all.jobs, 2);
  EXPECT_EQ(found.all.waited, 1);
  EXPECT_DOUBLE_EQ(found.all.near, 1);
  EXPECT_DOUBLE_EQ(found.all.recorded_s, 7 * 86'400 / 2.0);
}

TEST(Reproduction, LeavesOutJobsWithoutARecordedStart) {
  trace::Trace log = lonely_jobs({0s, 0s, 0s});
  log.jobs[1].outcome.start = kNoTime;
  EXPECT_EQ(of(std::move(log)).all.jobs, 2);
}

}  // namespace
}  // namespace almanac::advice
