// SPDX-License-Identifier: Apache-2.0
#include "trace/reconcile.h"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

/// A job of a log: submission, start, end and the run time that the log gives.
using Times = std::array<double, 4>;

class Reconcile : public testing::Test {
 protected:
  /// A log in Helios' form with these jobs, which ask for one GPU.
  Trace read(const std::vector<Times>& jobs, const std::string& more = {}) {
    std::string content = "job_id,vc,gpu_num,submit_time,start_time,end_time,duration\n";
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      const auto& [submit, start, end, run] = jobs[at];
      content += fmt::format("{},a,1,{},{},{},{}\n", at + 1, submit, start, end, run);
    }
    auto trace = read_trace(folder_.write("t.csv", content + more));
    if (!trace) {
      ADD_FAILURE() << to_string(trace.error());
      return {};
    }
    return std::move(*trace);
  }
  TemporaryFolder folder_;
};

TEST_F(Reconcile, LeavesALogAloneThatAgrees) {
  const Trace trace = read({{0, 10, 110, 100}, {5, 6, 20, 15}, {9, 9, 9, 0}});
  EXPECT_THAT(trace.notes, IsEmpty());
  EXPECT_EQ(trace.jobs[1].outcome.run, 15s) << "rounded by a second";
}

TEST_F(Reconcile, MendsRunTimesThatCountFromSubmission) {
  const Trace trace = read({{0, 10, 110, 110}, {5, 60, 70, 65}, {9, 9, 20, 11}});
  EXPECT_EQ(trace.jobs[0].outcome.run, 100s);
  EXPECT_EQ(trace.jobs[1].outcome.run, 10s);
  EXPECT_EQ(trace.jobs[2].outcome.run, 11s);
  EXPECT_THAT(trace.notes, ElementsAre(StartsWith("the log counts run times from submission")));
}

TEST_F(Reconcile, MendsRunTimesInAnotherUnit) {
  const Trace trace = read({{0, 10, 610, 10}, {5, 60, 6060, 100}, {9, 9, 7209, 120}});
  EXPECT_EQ(trace.jobs[1].outcome.run, 6000s);
  EXPECT_THAT(trace.notes,
              ElementsAre("the run time in the log is not end minus start (it may count minutes); "
                          "end minus start is used instead: 3 of 3 jobs, the first is 1"));
}

TEST_F(Reconcile, KeepsRunTimesOfWhichFewDisagreeAndSaysSo) {
  std::vector<Times> jobs(10, Times{0, 10, 110, 100});
  jobs[4] = {0, 10, 110, 60};
  const Trace trace = read(jobs);
  EXPECT_EQ(trace.jobs[4].outcome.run, 60s);
  EXPECT_THAT(trace.notes, ElementsAre("the run time is not end minus start, and is used as in the "
                                       "log: 1 of 10 jobs, the first is 5"));
}

TEST_F(Reconcile, NoticesClocksOfTwoZones) {
  const Trace early = read({{7200, 10, 110, 100}, {7205, 20, 30, 10}});
  EXPECT_THAT(early.notes, ElementsAre("the start comes before the submission, as if their clocks "
                                       "were in two time zones: 2 of 2 jobs, the first is 1"));
  const Trace late = read(std::vector<Times>(20, Times{0, 28805, 28905, 100}));
  EXPECT_THAT(late.notes, ElementsAre("every job waits at least 8.0 h, as if submission and start "
                                      "were in two time zones: 20 jobs"));
}

TEST_F(Reconcile, KeepsOurOwnRunTimesAtTheReferenceSpeed) {
  const auto trace = read_trace(folder_.write(
      "own.csv", "job_id,submit_s,run_s,gpus,start_s,end_s\n1,0,50,1,0,100\n2,0,60,1,0,100\n"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->jobs[0].outcome.run, 50s);
  EXPECT_THAT(trace->notes, IsEmpty());
  const auto waiting = read_trace(
      folder_.write("own.csv", "job_id,submit_s,run_s,gpus,start_s,end_s\n1,0,150,1,50,150\n"));
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->jobs[0].outcome.run, 100s);
}

TEST_F(Reconcile, KeepsWhatSlurmMeasured) {
  // Elapsed leaves out the time in which a job was suspended.
  const auto trace = read_trace(
      folder_.write("t.txt",
                    "JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES\n"
                    "1|2026-01-05T10:00:00|2026-01-05T10:00:00|2026-01-05T11:00:00|1800|COMPLETED|"
                    "gres/gpu=1\n"
                    "2|2026-01-05T10:00:00|2026-01-05T10:00:00|2026-01-05T12:00:00|3600|COMPLETED|"
                    "gres/gpu=1\n"));
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->jobs[0].outcome.run, 30min);
  EXPECT_EQ(trace->jobs[1].outcome.run, 1h);
}

TEST_F(Reconcile, NoticesAWaitThatIsAnother) {
  const auto trace =
      read_trace(folder_.write("t.csv",
                               "job_id,vc,gpu_num,submit_time,start_time,end_time,duration,queue\n"
                               "1,a,1,0,600,700,100,10\n2,a,1,0,60,160,100,1\n"));
  ASSERT_TRUE(trace);
  EXPECT_THAT(
      trace->notes,
      ElementsAre(
          "the wait in the log is not start minus submission, which is used instead: 2 of 2 jobs"));
}

TEST_F(Reconcile, NoticesGpusOfOneNode) {
  const auto trace = read_trace(
      folder_.write("own.csv", "job_id,submit_s,run_s,gpus,nodes\n1,0,50,1,16\n2,0,60,8,1\n"));
  ASSERT_TRUE(trace);
  EXPECT_THAT(trace->notes, ElementsAre(StartsWith("fewer GPUs than nodes, as if the log counted "
                                                   "GPUs per node: 1 of 2 jobs, the first is 1")));
}

}  // namespace
}  // namespace almanac::trace
