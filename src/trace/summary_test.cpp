// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/validate.h"

namespace almanac::trace {
namespace {

using testing::IsEmpty;

Job& add(Trace& trace, int gpus, Duration run, const char* user) {
  Job job;
  job.id = JobKey{trace.jobs.size() + 1};
  job.request.submit = Time(std::chrono::seconds(trace.jobs.size() * 10));
  job.request.gpus = gpus;
  job.request.user = trace.names.intern(user);
  job.outcome.run = run;
  trace.jobs.push_back(job);
  return trace.jobs.back();
}

TEST(Summary, CountsJobsUsersAndGpuTime) {
  Trace trace;
  add(trace, 4, 100s, "ann").outcome.start = Time(5s);
  add(trace, 0, 999s, "bob");
  add(trace, 1, 10s, "ann").request.gpu_share = 0.5F;
  const Summary summary = summarize(trace);
  EXPECT_EQ(summary.jobs, 3);
  EXPECT_EQ(summary.gpu_jobs, 2);
  EXPECT_EQ(summary.users, 2);
  EXPECT_EQ(summary.vcs, 0);
  EXPECT_EQ(summary.gpu_time_gpu_s, 405);
  EXPECT_EQ(summary.run_s.p50, 55);  // CPU jobs do not count
  EXPECT_EQ(summary.run_s.max, 100);
  EXPECT_EQ(summary.gpus.mean, 2.5);
  EXPECT_EQ(summary.wait_s.count, 1);
  EXPECT_EQ(summary.wait_s.mean, 5);
  EXPECT_EQ(summary.last_submit - summary.first_submit, 20s);
}

TEST(Summary, TellsCpuJobsFromGpuJobs) {
  Trace trace;
  add(trace, 2, 100s, "ann").request.cpus = 12;
  add(trace, 1, 50s, "ann");  // says nothing of cores
  Job& first = add(trace, 0, 30s, "bob");
  first.request.cpus = 4;
  first.request.memory_gb = 16;
  add(trace, 0, 10s, "bob").request.cpus = 1.5F;
  const Summary summary = summarize(trace);
  EXPECT_EQ(summary.gpu_hosts.cpus.count, 1);
  EXPECT_EQ(summary.gpu_hosts.core_time_s, 1200);
  EXPECT_EQ(summary.gpu_hosts.memory_gb.count, 0);
  EXPECT_EQ(summary.cpu_hosts.cpus.mean, 2.75);
  EXPECT_EQ(summary.cpu_hosts.core_time_s, 4 * 30 + 1.5 * 10);
  EXPECT_EQ(summary.cpu_hosts.memory_gb.max, 16);
  EXPECT_EQ(summary.cpu_run_s.mean, 20);
}

TEST(Summary, OfNoJobsIsEmpty) {
  const Summary summary = summarize(Trace());
  EXPECT_EQ(summary.jobs, 0);
  EXPECT_TRUE(std::isnan(summary.run_s.p50));
}

TEST(Oddities, AreNoneInAGoodTrace) {
  Trace trace;
  Job& job = add(trace, 4, 100s, "ann");
  job.outcome.start = Time(5s);
  job.outcome.end = Time(106s);  // a second of rounding
  job.request.time_limit = 60s;  // within the grace
  EXPECT_THAT(find_oddities(trace), IsEmpty());
}

TEST(Oddities, IncludeRunsThatTheLogCannotHold) {
  Trace trace;
  add(trace, 1, 24h * 29, "ann");
  EXPECT_THAT(find_oddities(trace), IsEmpty()) << "a short log may have a run of weeks";
  add(trace, 1, 24h * 31, "ann");
  ASSERT_EQ(find_oddities(trace).size(), 1U);
  EXPECT_EQ(find_oddities(trace)[0].what,
            "the run time is longer than a year, or than 100 times the log (is it in seconds?)");
  EXPECT_EQ(find_oddities(trace)[0].first_job, "2");
}

TEST(Oddities, ExcludeJobsThatStillWaited) {
  Trace trace;
  add(trace, 1, 0s, "ann").outcome.state = JobState::pending;
  EXPECT_THAT(find_oddities(trace), IsEmpty());
}

TEST(Oddities, AreNamedWithTheFirstJob) {
  Trace trace;
  add(trace, 1, 10s, "ann");
  for (int i = 0; i < 2; ++i) {
    Job& job = add(trace, 2, 0s, "ann");
    job.request.nodes = 3;
    job.request.gpu_share = 0.5F;
    job.request.after = JobKey{99};
    job.request.deadline = Time(1s);
    job.outcome.start = Time(2s);
    job.outcome.end = Time(50s);
  }
  add(trace, 1, 2h, "ann").request.time_limit = 1h;
  Request& worth = add(trace, 1, 2h, "ann").request;
  worth.value = 3;
  worth.batch = 4;
  worth.max_gpus = 8;
  std::vector<std::string> found;
  for (const Finding& finding : find_oddities(trace)) {
    found.push_back(finding.what + "|" + std::to_string(finding.jobs) + "|" + finding.first_job);
  }
  EXPECT_THAT(
      found,
      testing::ElementsAre(
          "the start comes before the submission|2|2", "the run time is not end minus start|2|2",
          "the run time is longer than the time limit|1|4", "a GPU job ran for 0 s|2|2",
          "a job on fewer GPUs than nodes|2|2", "a fraction of a GPU requested more than once|2|2",
          "the deadline comes before the submission|2|2", "a value without a deadline|1|5",
          "may run on more GPUs than its batch has samples|1|5",
          "waits for a job (`after`) that the trace does not have|2|2"));
}

}  // namespace
}  // namespace almanac::trace
