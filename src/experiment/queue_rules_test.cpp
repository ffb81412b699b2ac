// SPDX-License-Identifier: Apache-2.0
#include "sim/queue_rules.h"

#include <gtest/gtest.h>

#include "experiment/profile.h"
#include "experiment/summary.h"
#include "policy/registry.h"
#include "sim/simulation.h"

namespace almanac::experiment {
namespace {

constexpr const char* kPolicies[] = {"fifo", "easy", "conservative", "las", "srtf", "themis"};

class QueueRules : public testing::Test {
 protected:
  trace::Job& add(std::int64_t submit_s, std::int64_t run_s, int gpus) {
    trace::Job& job = trace_.jobs.emplace_back();
    job.id = trace::JobKey{trace_.jobs.size()};
    job.request.submit = Time{submit_s * 1s};
    job.request.gpus = gpus;
    job.outcome.run = run_s * 1s;
    job.outcome.state = trace::JobState::completed;
    return job;
  }
  /// Cancelled in the queue.
  trace::Job& add_withdrawn(std::int64_t submit_s, std::int64_t until_s, int gpus) {
    trace::Job& job = add(submit_s, 0, gpus);
    job.outcome.state = trace::JobState::cancelled;
    job.outcome.start = job.outcome.end = Time{until_s * 1s};
    return job;
  }
  sim::Schedule play(const char* policy, int nodes, JobId watched = kNoJob) {
    return play_by(policy, nodes, true, watched);
  }
  sim::Schedule play_by(const char* policy, int nodes, bool rules, JobId watched = kNoJob) {
    const auto composition = policy::registry().compose(policy);
    EXPECT_TRUE(composition);
    composition_ = *composition;
    const auto made = make_policy(*composition, trace_);
    EXPECT_TRUE(made);
    sim::Options options{.policy = policy,
                         .restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s}};
    options.keeps_queue_rules = rules;
    options.watch.job = watched;
    options.watch.log_waits = true;
    return sim::simulate(trace_, cluster::uniform(static_cast<std::uint32_t>(nodes), 8), **made,
                         options);
  }

  trace::Trace trace_;
  policy::Composition composition_;
};

class QueueRulesOf : public QueueRules, public testing::WithParamInterface<const char*> {};

TEST_P(QueueRulesOf, JobsOfAChainNeverRunAtOnce) {
  // In the log each followed at once; here another job holds the nodes first.
  add(0, 500, 16);
  for (int each = 0; each < 4; ++each) {
    trace::Job& job = add(10 + 100 * each, 100, 8);
    if (each > 0) job.request.after = trace_.jobs[trace_.jobs.size() - 2].id;
  }
  const sim::Schedule schedule = play(GetParam(), 2);
  for (std::size_t at = 2; at < trace_.jobs.size(); ++at) {
    EXPECT_GE(schedule.jobs[at].start, schedule.jobs[at - 1].end) << at;
    EXPECT_EQ(sim::joined(trace_.jobs[at].request, schedule.jobs[at]), schedule.jobs[at - 1].end)
        << at;
    EXPECT_EQ(schedule.jobs[at].phase, policy::Phase::ended) << at;
  }
  // Only the first of the chain waits: the others join when the one before has ended.
  const Summary summary = summarize(composition_, trace_, schedule, energy::PowerModel());
  EXPECT_EQ(summary.finished, 5U);
  EXPECT_LE(summary.queued_jobs, 2U);
}

TEST_P(QueueRulesOf, AWithdrawnJobLeavesTheQueueAndCountsNowhere) {
  add(0, 1000, 8);
  add_withdrawn(10, 200, 8);
  add(20, 50, 8);
  const sim::Schedule schedule = play(GetParam(), 1);
  EXPECT_EQ(schedule.jobs[1].phase, policy::Phase::withdrawn);
  EXPECT_EQ(schedule.jobs[1].start, kNoTime);
  const Summary summary = summarize(composition_, trace_, schedule, energy::PowerModel());
  EXPECT_EQ(summary.jobs, 2U);
  EXPECT_EQ(summary.finished, 2U);
  EXPECT_EQ(summary.withdrawn_jobs, 1U);
  EXPECT_EQ(schedule.jobs[2].phase, policy::Phase::ended);
}

TEST_P(QueueRulesOf, AWithdrawnJobThatWouldStartDoesNotRun) {
  add_withdrawn(0, 5000, 8);
  add(10, 50, 8);
  const sim::Schedule schedule = play(GetParam(), 1);
  EXPECT_EQ(schedule.jobs[0].phase, policy::Phase::withdrawn);
  EXPECT_EQ(schedule.jobs[0].start, kNoTime);
  EXPECT_EQ(schedule.jobs[0].ran, Duration{0});
  EXPECT_EQ(schedule.jobs[1].start, Time{10s}) << "its GPUs are free at once";
  EXPECT_EQ(schedule.finish, Time{60s});
}

TEST_P(QueueRulesOf, WhatDependsOnAWithdrawnJobJoinsWhenThatLeaves) {
  add(0, 1000, 8);
  add_withdrawn(10, 200, 8);
  add(10, 50, 8).request.after = trace::JobKey{2};
  const sim::Schedule schedule = play(GetParam(), 2);
  // On the second node the withdrawn job would have started at once.
  EXPECT_EQ(schedule.jobs[2].phase, policy::Phase::ended);
  EXPECT_EQ(schedule.jobs[2].start, Time{10s});
}

TEST_P(QueueRulesOf, NoMoreTasksOfAnArrayRunAtOnceThanItsThrottleAllows) {
  // Five tasks of 100 s with one GPU each, two at a time, on 8 GPUs; the second runs for 250 s.
  for (int task = 1; task <= 5; ++task) {
    trace::Job& job = add(0, task == 2 ? 250 : 100, 1);
    job.id = trace_.key("51_" + std::to_string(task));
    job.request.array_limit = 2;
  }
  add(0, 100, 1).id = trace_.key("52_1");  // of an array without a throttle
  const sim::Schedule schedule = play(GetParam(), 1);
  const std::vector<Time> starts{Time{0s}, Time{0s}, Time{100s}, Time{200s}, Time{250s}, Time{0s}};
  for (std::size_t at = 0; at < starts.size(); ++at) {
    EXPECT_EQ(schedule.jobs[at].start, starts[at]) << at;
    EXPECT_EQ(sim::joined(trace_.jobs[at].request, schedule.jobs[at]), Time{0s}) << at;
  }
  // The throttle holds the tasks for 0, 0, 100, 200 and 250 s, and 52_1 starts at once.
  const Summary summary = summarize(composition_, trace_, schedule, energy::PowerModel());
  EXPECT_DOUBLE_EQ(summary.avg_wait_s, 550.0 / 6);
}

TEST_P(QueueRulesOf, ATaskWithADependencyWaitsForBoth) {
  add(0, 150, 1);
  for (int task = 1; task <= 3; ++task) {
    trace::Job& job = add(0, 100, 1);
    job.id = trace_.key("51_" + std::to_string(task));
    job.request.array_limit = 1;
    if (task == 1) job.request.after = trace::JobKey{1};
  }
  const sim::Schedule schedule = play(GetParam(), 1);
  // Tasks 2 and 3 run first: task 1 does not take room before its dependency has ended.
  EXPECT_EQ(schedule.jobs[2].start, Time{0s});
  EXPECT_EQ(schedule.jobs[3].start, Time{100s});
  EXPECT_EQ(schedule.jobs[1].start, Time{200s});
  EXPECT_EQ(sim::joined(trace_.jobs[1].request, schedule.jobs[1]), Time{150s})
      << "eligible when its dependency has ended; then the throttle holds it";
}

INSTANTIATE_TEST_SUITE_P(EveryKindOfPolicy, QueueRulesOf, testing::ValuesIn(kPolicies));

TEST_F(QueueRules, TakeWhatALogShowsAsADependencyWithinAThrottledArrayForTheThrottle) {
  // Two at a time. The log says that task 3 joined as task 2 ended; here task 1 ends first.
  for (int task = 1; task <= 3; ++task) {
    trace::Job& job = add(0, task == 1 ? 50 : 100, 1);
    job.id = trace_.key("51_" + std::to_string(task));
    job.request.array_limit = 2;
    if (task == 3) job.request.after = trace_.jobs[1].id;
  }
  EXPECT_EQ(play("fifo", 1).jobs[2].start, Time{50s});
}

TEST_F(QueueRules, NameTheThrottleAsSlurmDoes) {
  for (int task = 1; task <= 2; ++task) {
    trace::Job& job = add(0, 100, 1);
    job.id = trace_.key("51_" + std::to_string(task));
    job.request.array_limit = 1;
  }
  const sim::Schedule schedule = play("fifo", 1, JobId{1});
  ASSERT_EQ(schedule.waits.size(), 1U);
  EXPECT_EQ(schedule.waits[0].from, Time{0s});
  EXPECT_EQ(schedule.waits[0].until, Time{100s});
  EXPECT_EQ(policy::to_string(schedule.waits[0].reason, ""),
            "JobArrayTaskLimit: as many tasks of its array run as its user allows");
}

TEST_F(QueueRules, NameTheThrottleFromTheSubmissionOn) {
  // Nothing else happens at 10 s.
  for (int task = 1; task <= 2; ++task) {
    trace::Job& job = add(task == 1 ? 0 : 10, 100, 1);
    job.id = trace_.key("51_" + std::to_string(task));
    job.request.array_limit = 1;
  }
  const sim::Schedule schedule = play("fifo", 1, JobId{1});
  ASSERT_EQ(schedule.waits.size(), 1U);
  EXPECT_EQ(schedule.waits[0].from, Time{10s});
  EXPECT_EQ(schedule.waits[0].until, Time{100s});
}

TEST_F(QueueRules, NameTheThrottleOfATaskWhoseDependencyHasEnded) {
  add(0, 150, 1);
  for (int task = 1; task <= 2; ++task) {
    trace::Job& job = add(0, 200, 1);
    job.id = trace_.key("51_" + std::to_string(task));
    job.request.array_limit = 1;
    if (task == 1) job.request.after = trace::JobKey{1};
  }
  const sim::Schedule schedule = play("fifo", 1);
  // Task 1 is eligible at 150 s, and starts when task 2 has ended, at 200 s.
  ASSERT_EQ(schedule.job_waits.size(), 1U);
  EXPECT_EQ(schedule.job_waits[0].job, JobId{1});
  EXPECT_EQ(schedule.job_waits[0].wait.from, Time{150s});
  EXPECT_EQ(schedule.job_waits[0].wait.until, Time{200s});
}

TEST_F(QueueRules, HoldTheHeadOfTheQueueUntilTheWithdrawal) {
  add(0, 1000, 4);
  add_withdrawn(10, 200, 8);
  add(20, 50, 4);
  EXPECT_EQ(play("fifo", 1).jobs[2].start, Time{200s});
}

TEST_F(QueueRules, ArePublishedSimulatorsOwn) {
  add(0, 1000, 4);
  add_withdrawn(10, 200, 8);
  add(20, 50, 4);
  const sim::Schedule schedule = play_by("fifo", 1, false);
  EXPECT_EQ(schedule.jobs[1].phase, policy::Phase::ended);
  EXPECT_EQ(schedule.jobs[1].start, Time{1000s});
  EXPECT_EQ(schedule.jobs[2].start, Time{1000s});
}

TEST_F(QueueRules, RowsOfATableAreOfTheSameJobs) {
  for (int each = 0; each < 20; ++each) {
    trace::Job& job = add(10 * each, each == 3 ? 0 : 30, 8);  // one ran for less than a second
    job.outcome.start = job.request.submit + 5s;
    job.outcome.end = job.outcome.start + job.outcome.run;
  }
  add_withdrawn(500, 600, 8);
  add(510, 100, 64).outcome.start = Time{700s};  // can never start here
  const sim::Schedule schedule = play("easy", 1);
  std::vector<JobId> never;
  for (const auto& [job, reason] : schedule.never) never.push_back(job);
  const Summary played = summarize(composition_, trace_, schedule, energy::PowerModel());
  const auto recorded = summarize_recorded(trace_, cluster::uniform(1, 8), Duration{0}, never);
  ASSERT_TRUE(recorded);
  EXPECT_EQ(played.finished, 20U);
  EXPECT_EQ(recorded->finished, 20U);
  EXPECT_DOUBLE_EQ(recorded->avg_wait_s, 5);
}

TEST_F(QueueRules, IgnoreADependencyOnAJobThatComesLater) {
  add(0, 100, 8).request.after = trace::JobKey{2};
  add(10, 100, 8);
  EXPECT_EQ(play("fifo", 1).jobs[0].start, Time{0s});
}

}  // namespace
}  // namespace almanac::experiment
