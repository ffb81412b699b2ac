// SPDX-License-Identifier: Apache-2.0
#include "store/log.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/asked_gpus.h"
#include "store/store.h"
#include "support/temporary_folder.h"
#include "trace/read.h"
#include "trace/write.h"

namespace almanac::store {
namespace {

using testing::ElementsAre;
using trace::JobState;

/// Ran from `start`, if it ever did, to `end` without a break.
Job ran(std::int64_t number, Time submit, Time start, Time end) {
  Job job;
  job.number = JobNumber{number};
  job.submit = submit;
  job.state = JobState::completed;
  job.start = start;
  job.end = end;
  if (start != kNoTime) job.attained = end - start;
  job.attempts = 1;
  return job;
}

trace::Trace log(const std::vector<Job>& jobs, std::int64_t most = -1) {
  const TemporaryFolder folder;
  Store store = Store::open(folder / "almanac.db").value();
  Store::Batch batch;
  for (const Job& job : jobs) batch.put(job);
  EXPECT_TRUE(store.commit(batch));
  return store.log(kNoTime, most).value();
}

TEST(StoreLog, HasTheLastToEndWhereThereAreMany) {
  const auto made =
      log({ran(1, Time(1s), Time(2s), Time(90s)), ran(2, Time(3s), Time(4s), Time(5s)),
           ran(3, Time(6s), Time(7s), Time(8s))},
          2);
  ASSERT_EQ(made.jobs.size(), 2U);
  EXPECT_EQ(made.jobs[0].request.submit, Time(1s));
  EXPECT_EQ(made.jobs[1].request.submit, Time(6s));
}

TEST(StoreLog, SaysWhatWasAskedAndWhatBecameOfIt) {
  Job job = ran(7, Time(100s), Time(160s), Time(460s));
  job.state = JobState::timeout;
  job.asked.change().name = "train";
  job.asked.change().comment = "for the paper, take 2";
  job.asked.change().user = "ann";
  job.asked.change().vc = "night";
  job.asked.change().qos = "urgent";
  job.asked.change().model = "resnet-50";
  job.asked.change().group = "search";
  job.asked.change().gpu_type = "A100";
  job.asked.change().gpu_profile = "2g.20gb";
  job.asked.change().gpu_memory_gb = 16;
  job.asked.change().gpus = 2;
  job.asked.change().max_gpus = 4;
  job.asked.change().cpus = 8;
  job.asked.change().memory_gb = 32;
  job.asked.change().time_limit = 5min;
  job.asked.change().deadline = Time(500s);
  job.asked.change().worthless_at = Time(600s);
  job.asked.change().value = 2;
  job.asked.change().batch = 64;
  job.asked.change().steps = 1'000;
  job.held_gpus = {{.gpus = 3, .cpu_milli = 6'000, .memory_mb = 32'000}};
  const trace::Trace trace = log({job});
  ASSERT_EQ(trace.jobs.size(), 1U);
  const trace::Request& request = trace.jobs[0].request;
  const trace::Outcome& outcome = trace.jobs[0].outcome;
  EXPECT_EQ(trace.id(trace.jobs[0].id), "7");
  EXPECT_EQ(request.submit, Time(100s));
  EXPECT_EQ(trace.names[request.name], "train");
  EXPECT_EQ(trace.names[request.comment], "for the paper, take 2");
  EXPECT_EQ(trace.names[request.user], "ann");
  EXPECT_EQ(trace.names[request.vc], "night");
  EXPECT_EQ(trace.names[request.qos], "urgent");
  EXPECT_EQ(trace.names[request.model], "resnet-50");
  EXPECT_EQ(trace.names[request.group], "search");
  EXPECT_EQ(trace.names[request.gpu_type], "A100");
  EXPECT_EQ(trace.names[request.gpu_profile], "2g.20gb");
  EXPECT_EQ(request.gpu_memory_gb, 16);
  EXPECT_EQ(request.gpus, 2);
  EXPECT_EQ(request.max_gpus, 4);
  EXPECT_EQ(request.cpus, 8);
  EXPECT_EQ(request.memory_gb, 32);
  EXPECT_EQ(request.time_limit, 5min);
  EXPECT_EQ(request.deadline, Time(500s));
  EXPECT_EQ(request.worthless_at, Time(600s));
  EXPECT_EQ(request.value, 2);
  EXPECT_EQ(request.batch, 64);
  EXPECT_EQ(request.steps, 1'000);
  EXPECT_EQ(outcome.run, 300s);
  EXPECT_EQ(outcome.span, kNoDuration);
  EXPECT_EQ(outcome.start, Time(160s));
  EXPECT_EQ(outcome.end, Time(460s));
  EXPECT_EQ(outcome.state, JobState::timeout);
  EXPECT_EQ(outcome.attempts, 1);
  // It had fewer cores than it asked for, and all the memory.
  EXPECT_EQ(outcome.reference_cpus, 6);
  EXPECT_TRUE(std::isnan(outcome.reference_memory_gb));
}

TEST(StoreLog, CountsTheTimeThatAJobRanNotWhatLayBetween) {
  Job job = ran(1, Time(0s), Time(10s), Time(110s));
  job.attained = 60s;
  job.attempts = 3;
  job.preemptions = 2;
  const trace::Trace trace = log({job});
  EXPECT_EQ(trace.jobs[0].outcome.run, 60s);
  EXPECT_EQ(trace.jobs[0].outcome.span, 100s);
  EXPECT_EQ(trace.jobs[0].outcome.attempts, 3);
}

TEST(StoreLog, LeavesOutWhatHasNotEnded) {
  Job waits = ran(1, Time(0s), kNoTime, kNoTime);
  waits.state = JobState::pending;
  Job cancelled = ran(2, Time(1s), kNoTime, Time(5s));
  cancelled.state = JobState::cancelled;
  const trace::Trace trace = log({waits, cancelled});
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].outcome.run, 0s);
  EXPECT_EQ(trace.jobs[0].outcome.start, kNoTime);
}

TEST(StoreLog, NamesTheJobBeforeThatEndedLast) {
  Job last = ran(4, Time(4s), Time(70s), Time(80s));
  last.asked.change().after = {JobNumber{1}, JobNumber{2}, JobNumber{3}};
  const trace::Trace trace =
      log({ran(1, Time(1s), Time(2s), Time(50s)), ran(2, Time(2s), Time(3s), Time(60s)),
           ran(3, Time(3s), Time(4s), Time(40s)), last});
  EXPECT_EQ(trace.jobs[3].request.after, trace::JobKey{2});

  Job stray = ran(5, Time(4s), Time(70s), Time(80s));
  stray.asked.change().after = {JobNumber{99}};
  const trace::Trace other = log({stray});
  EXPECT_EQ(other.jobs[0].request.after, trace::kNoJobKey);
  EXPECT_THAT(other.notes, ElementsAre("depended on jobs that the log does not have: 1"));
}

TEST(StoreLog, LetsAJobQueueFromWhenItMightStart) {
  Job later = ran(3, Time(2s), Time(120s), Time(130s));
  later.asked.change().not_before = Time(100s);
  Job next = ran(2, Time(2s), Time(55s), Time(70s));
  next.asked.change().after = {JobNumber{1}};
  const trace::Trace trace = log({ran(1, Time(1s), Time(2s), Time(50s)), later, next});
  EXPECT_TRUE(trace.knows_eligible);
  ASSERT_EQ(trace.jobs.size(), 3U);
  EXPECT_EQ(trace.jobs[1].request.submit, Time(50s)) << "the end of what it came after";
  EXPECT_EQ(trace.jobs[1].request.submitted, Time(2s));
  EXPECT_EQ(trace.jobs[2].request.submit, Time(100s)) << "its begin time";
}

TEST(AskedGpus, CountPartsAndInstancesAsSuch) {
  Submission asked{.gpus = 4};
  EXPECT_EQ(gpus_of(asked), 4);
  asked.gpu_profile = "1g.10gb";
  EXPECT_EQ(gpus_of(asked), 0.5);
  EXPECT_EQ(gpus_of({.gpus = 1, .gpu_share = 0.25}), 0.25);
  EXPECT_EQ(gpus_of({}), 0);
}

TEST(StoreLog, ReadsTheSameFromOurCsv) {
  std::vector<Job> jobs{ran(1, Time(1500ms), Time(2s), Time(50s)),
                        ran(2, Time(3s), Time(50s), Time(90s)),
                        ran(3, Time(3s), kNoTime, Time(95s))};
  jobs[1].asked.change().after = {JobNumber{1}};
  jobs[1].asked.change().gpus = 4;
  jobs[1].asked.change().deadline = Time(100s);
  jobs[1].asked.change().name = "a, \"b\"";
  jobs[1].attained = 30s;
  jobs[2].state = JobState::cancelled;
  jobs[2].attained = {};
  const trace::Trace trace = log(jobs);
  const TemporaryFolder folder;
  ASSERT_TRUE(trace::save_trace(trace, folder / "log.csv"));
  const auto again = trace::read_trace(folder / "log.csv");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->format, "almanac");
  ASSERT_EQ(again->jobs.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again->jobs[i].id, trace.jobs[i].id);
    EXPECT_EQ(again->jobs[i].request.submit, trace.jobs[i].request.submit);
    EXPECT_EQ(again->jobs[i].request.gpus, trace.jobs[i].request.gpus);
    EXPECT_EQ(again->jobs[i].request.after, trace.jobs[i].request.after);
    EXPECT_EQ(again->jobs[i].request.deadline, trace.jobs[i].request.deadline);
    EXPECT_EQ(again->names[again->jobs[i].request.name], trace.names[trace.jobs[i].request.name]);
    EXPECT_EQ(again->jobs[i].outcome.run, trace.jobs[i].outcome.run);
    EXPECT_EQ(again->jobs[i].outcome.span, trace.jobs[i].outcome.span);
    EXPECT_EQ(again->jobs[i].outcome.start, trace.jobs[i].outcome.start);
    EXPECT_EQ(again->jobs[i].outcome.end, trace.jobs[i].outcome.end);
    EXPECT_EQ(again->jobs[i].outcome.state, trace.jobs[i].outcome.state);
    EXPECT_EQ(again->jobs[i].outcome.attempts, trace.jobs[i].outcome.attempts);
  }
}

}  // namespace
}  // namespace almanac::store
