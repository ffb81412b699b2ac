// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "text/datetime.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kHeader =
    "JobID|JobName|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocTRES\n";

Trace read(const std::string& rows, bool lenient = false) {
  const TemporaryFolder folder;
  auto trace = read_trace(folder.write("t", kHeader + rows), {.lenient = lenient});
  if (!trace) {
    ADD_FAILURE() << to_string(trace.error());
    return {};
  }
  return std::move(*trace);
}

/// A row of a day in 2026, times as "HH:MM:SS".
std::string row(const std::string& id, const std::string& submit, const std::string& start,
                const std::string& end, int ran_s, const std::string& state,
                const std::string& tres = "cpu=8,gres/gpu=2", const std::string& user = "ann") {
  const auto at = [](const std::string& time) {
    return time.empty() ? "Unknown" : "2026-01-05T" + time;
  };
  return id + "|train|" + user + "|" + at(submit) + "|" + at(start) + "|" + at(end) + "|" +
         std::to_string(ran_s) + "|120|" + state + "|" + tres + "\n";
}

TEST(SacctRuns, MakesOneJobOfARequeuedOne) {
  const Trace trace = read(row("5", "08:00:00", "08:00:05", "09:04:54", 3889, "REQUEUED") +
                           row("5", "09:04:54", "09:10:00", "09:40:00", 1800, "NODE_FAIL") +
                           row("5", "09:40:00", "09:45:00", "11:00:00", 4500, "COMPLETED") +
                           row("6", "08:30:00", "08:30:05", "09:30:05", 3600, "COMPLETED"));
  ASSERT_EQ(trace.jobs.size(), 2U);
  const Job& job = trace.jobs[0];
  EXPECT_EQ(trace.id(job.id), "5");
  EXPECT_EQ(job.outcome.run, 10189s);
  EXPECT_EQ(job.outcome.attempts, 3);
  EXPECT_EQ(job.outcome.state, JobState::completed);
  EXPECT_EQ(job.outcome.start - job.request.submit, 5s);
  EXPECT_EQ(job.outcome.span, 3h - 5s);
  EXPECT_THAT(
      trace.notes,
      ElementsAre("jobs that ran several times (one job each, with the total GPU time): 1"));
}

TEST(SacctRuns, KeepsRunTimesWhereMostJobsWereRequeued) {
  const Trace trace = read(row("5", "08:00:00", "08:00:05", "08:10:05", 600, "REQUEUED") +
                           row("5", "08:10:10", "09:10:00", "09:20:00", 600, "COMPLETED"));
  EXPECT_EQ(trace.jobs.at(0).outcome.run, 20min);
}

TEST(SacctRuns, TellsJobsOfOneIdApart) {
  const Trace trace = read(
      "66|a|ann|2025-01-05T08:00:00|2025-01-05T08:00:05|2025-01-05T09:00:05|3600|60|COMPLETED|"
      "gres/gpu=1\n"
      "66|a|ann|2026-01-05T08:00:00|2026-01-05T08:00:05|2026-01-05T09:00:05|3600|60|COMPLETED|"
      "gres/gpu=8\n" +
      row("66", "08:00:00", "08:00:05", "09:00:05", 3600, "COMPLETED", "gres/gpu=4", "bob"));
  ASSERT_EQ(trace.jobs.size(), 3U);
  EXPECT_EQ(trace.id(trace.jobs[0].id), "66");
  EXPECT_EQ(trace.jobs[0].request.gpus, 1);
  EXPECT_EQ(trace.id(trace.jobs[1].id), "66#2");
  EXPECT_EQ(trace.id(trace.jobs[2].id), "66#3");
  EXPECT_THAT(trace.notes, Contains("jobs that reuse the id of an earlier job (named ID#2): 2"));
}

TEST(SacctRuns, KeepsTheWaitAndTheGpuTimeOfAResizedJob) {
  const Trace trace =
      read(row("7", "08:00:00", "08:00:05", "09:00:05", 3600, "RESIZING", "cpu=8,gres/gpu=8") +
           row("7", "08:00:00", "09:00:05", "11:00:05", 7200, "COMPLETED", "cpu=8,gres/gpu=4"));
  ASSERT_EQ(trace.jobs.size(), 1U);
  const Job& job = trace.jobs[0];
  EXPECT_EQ(job.request.gpus, 8);
  EXPECT_EQ(job.outcome.run, 2h) << "16 GPU-hours";
  EXPECT_EQ(job.outcome.start - job.request.submit, 5s);
  EXPECT_EQ(job.outcome.end - job.outcome.start, 3h);
  EXPECT_EQ(job.outcome.span, 3h);
  EXPECT_EQ(job.outcome.attempts, 0);
  EXPECT_EQ(job.outcome.state, JobState::completed);
}

TEST(SacctRuns, CountsARunOnceThatOverlappingLogsTellTwice) {
  const std::string done = row("1", "08:00:00", "08:00:05", "09:00:05", 3600, "COMPLETED");
  const Trace trace = read(row("1", "08:00:00", "08:00:05", "", 600, "RUNNING") +
                           row("2", "08:10:00", "", "", 0, "PENDING") + kHeader + done + done +
                           row("2", "08:10:00", "08:20:00", "", 60, "RUNNING"));
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].outcome.run, 1h);
  EXPECT_EQ(trace.jobs[0].outcome.state, JobState::completed);
  EXPECT_EQ(trace.jobs[0].outcome.attempts, 0);
  EXPECT_EQ(trace.jobs[1].outcome.state, JobState::running);
  EXPECT_THAT(trace.notes, ElementsAre("repeated header lines (left out): 1",
                                       "jobs still running (their run time so far is used): 1",
                                       "rows that repeat a run (left out): 3"));
}

TEST(SacctRuns, TakesARequeuedRowAloneForARunThatWasEnded) {
  const Trace trace = read(row("5", "08:00:00", "08:00:05", "09:04:54", 3889, "REQUEUED"));
  EXPECT_EQ(trace.jobs.at(0).outcome.state, JobState::preempted);
  EXPECT_THAT(trace.notes, IsEmpty());
}

}  // namespace
}  // namespace almanac::trace
