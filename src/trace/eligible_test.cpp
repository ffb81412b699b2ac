// SPDX-License-Identifier: Apache-2.0
#include "trace/eligible.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"
#include "trace/summary.h"
#include "trace/write.h"

namespace almanac::trace {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kEligibleHeader =
    "JobID|JobName|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|State|AllocTRES\n";

std::string under_header(std::string_view rows) {
  std::string made = kEligibleHeader;
  made += rows;
  return made;
}

class Eligible : public testing::Test {
 protected:
  Trace read(const std::string& name, const std::string& text) {
    auto made = read_trace(folder_.write(name, text), {});
    EXPECT_TRUE(made) << to_string(made.error());
    return std::move(*made);
  }
  const Job& job(const Trace& trace, std::uint64_t id) {
    for (const Job& each : trace.jobs) {
      if (each.id == JobKey{id}) return each;
    }
    ADD_FAILURE() << "no job " << id;
    return trace.jobs.front();
  }

  TemporaryFolder folder_;
};

/// A chain of two, one with a begin time, one that was held until it was cancelled, one cancelled
/// in the queue.
std::string sacct() {
  return under_header(
      "1|prep|ann|gpu|2026-01-05T08:00:00|2026-01-05T08:00:00|2026-01-05T08:00:05|"
      "2026-01-05T12:00:05|14400|COMPLETED|cpu=8,gres/gpu=1\n"
      "2|train|ann|gpu|2026-01-05T08:00:00|2026-01-05T12:00:06|2026-01-05T12:00:10|"
      "2026-01-05T16:00:10|14400|COMPLETED|cpu=8,gres/gpu=1\n"
      "3|begin|bob|gpu|2026-01-05T08:00:00|2026-01-06T08:00:00|2026-01-06T08:00:02|"
      "2026-01-06T10:00:02|7200|COMPLETED|cpu=8,gres/gpu=1\n"
      "4|held|cem|gpu|2026-01-05T09:00:00|Unknown|2026-01-05T11:00:00|2026-01-05T11:00:00|0|"
      "CANCELLED by 7|cpu=8,gres/gpu=4\n"
      "5|queued|cem|gpu|2026-01-05T09:00:00|2026-01-05T09:00:00|2026-01-05T10:00:00|"
      "2026-01-05T10:00:00|0|CANCELLED by 7|cpu=8,gres/gpu=4\n");
}

TEST_F(Eligible, IsWhenAJobJoinsTheQueue) {
  const Trace trace = read("sacct.txt", sacct());
  EXPECT_TRUE(trace.knows_eligible);
  const auto waited = [&](std::uint64_t id) {
    return job(trace, id).outcome.start - job(trace, id).request.submit;
  };
  EXPECT_EQ(waited(1), 5s);
  EXPECT_EQ(waited(2), 4s);
  EXPECT_EQ(waited(3), 2s);
  EXPECT_EQ(waited(4), 0s) << "it was never eligible: it leaves as it comes";
  EXPECT_EQ(job(trace, 1).request.submitted, kNoTime);
  EXPECT_EQ(job(trace, 2).request.submitted, job(trace, 1).request.submit);
  EXPECT_TRUE(std::is_sorted(trace.jobs.begin(), trace.jobs.end(), [](const Job& a, const Job& b) {
    return a.request.submit < b.request.submit;
  }));
}

TEST_F(Eligible, SaysWhatItDependedOn) {
  const Trace trace = read("sacct.txt", sacct());
  EXPECT_EQ(job(trace, 2).request.after, JobKey{1}) << "one second after its user's job ended";
  EXPECT_EQ(job(trace, 3).request.after, kNoJobKey) << "a begin time";
  EXPECT_EQ(job(trace, 1).request.after, kNoJobKey);
  EXPECT_THAT(trace.notes, Contains(HasSubstr("3 jobs became eligible only after submission")));
  EXPECT_THAT(trace.notes, Contains(HasSubstr("1 did so as another job of the same user ended")));
}

TEST_F(Eligible, TellsJobsThatNeverRan) {
  const Trace trace = read("sacct.txt", sacct());
  for (const std::uint64_t id : {1, 2, 3}) EXPECT_FALSE(never_ran(job(trace, id))) << id;
  for (const std::uint64_t id : {4, 5}) EXPECT_TRUE(never_ran(job(trace, id))) << id;
  EXPECT_EQ(withdrawn_at(job(trace, 5)), job(trace, 5).outcome.end);
  const Summary summary = summarize(trace);
  EXPECT_EQ(summary.gpu_jobs, 5);
  EXPECT_EQ(summary.never_ran, 2);
  EXPECT_EQ(summary.last_submit - summary.first_submit, 1h) << "submissions, not when it queued";
  EXPECT_EQ(summary.wait_s.count, 3);
  EXPECT_DOUBLE_EQ(summary.wait_s.mean, (5 + 4 + 2) / 3.0);
  EXPECT_EQ(summary.run_s.count, 3);
  Job failed_at_once;
  failed_at_once.outcome.state = JobState::failed;
  failed_at_once.outcome.start = failed_at_once.outcome.end = Time{5s};
  EXPECT_FALSE(never_ran(failed_at_once));
  Job without_state = failed_at_once;
  without_state.outcome.state = JobState::unknown;
  EXPECT_TRUE(never_ran(without_state));
  Job of_no_log;
  EXPECT_FALSE(never_ran(of_no_log)) << "nothing is told of it";
  Job waits_still;
  waits_still.outcome.state = JobState::pending;
  EXPECT_TRUE(never_ran(waits_still));
  EXPECT_EQ(withdrawn_at(waits_still), kNever);
}

TEST_F(Eligible, OutlivesOurOwnFormat) {
  const Trace trace = read("sacct.txt", sacct());
  const std::string path = folder_ / "own.csv";
  ASSERT_TRUE(save_trace(trace, path, "csv", {}));
  const auto again = read_trace(path, {});
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(again->knows_eligible);
  ASSERT_EQ(again->jobs.size(), trace.jobs.size());
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    EXPECT_EQ(again->jobs[at].request.submit, trace.jobs[at].request.submit) << at;
    EXPECT_EQ(again->jobs[at].request.submitted, trace.jobs[at].request.submitted) << at;
    EXPECT_EQ(again->jobs[at].request.after, trace.jobs[at].request.after) << at;
  }
}

TEST_F(Eligible, IsTheEndOfTheJobBeforeWhereOnlyThatIsKnown) {
  const Trace trace = read("log.csv",
                           "job_id,submit_s,start_s,end_s,run_s,gpus,after\n"
                           "1,0,10,100,90,1,\n"
                           "2,0,130,200,70,1,1\n"
                           "3,0,50,60,10,1,1\n");
  EXPECT_FALSE(trace.knows_eligible);
  EXPECT_EQ(job(trace, 2).request.submit, Time{100s});
  EXPECT_EQ(job(trace, 3).request.submit, Time{0s}) << "it started before the other had ended";
}

TEST_F(Eligible, IsNotTakenWhereTheLogContradictsIt) {
  const Trace trace =
      read("sacct.txt",
           under_header("1|a|ann|gpu|2026-01-05T08:00:00|2026-01-05T09:00:00|2026-01-05T08:30:00|"
                        "2026-01-05T08:40:00|600|COMPLETED|gres/gpu=1\n"
                        "2|b|ann|gpu|2026-01-05T08:00:00|2026-01-05T07:00:00|2026-01-05T08:30:00|"
                        "2026-01-05T08:40:00|600|COMPLETED|gres/gpu=1\n"
                        "3|c|ann|gpu|2026-01-05T08:00:00|Unknown|2026-01-05T08:30:00|"
                        "2026-01-05T08:40:00|600|COMPLETED|gres/gpu=1\n"));
  EXPECT_EQ(job(trace, 1).request.submit, job(trace, 1).outcome.start) << "not after its start";
  EXPECT_EQ(job(trace, 2).outcome.start - job(trace, 2).request.submit, 30min);
  EXPECT_EQ(job(trace, 3).outcome.start - job(trace, 3).request.submit, 30min) << "it ran";
}

TEST_F(Eligible, IsNotAskedOfTaccsJobsThatNeverStarted) {
  const Trace trace = read(
      "tacc.csv",
      "job_id,job_name,user,submit_time,start_time,end_time,node_num,gpu_num,timelimit_min,"
      "priority,"
      "exit_code,duration,queue\n"
      "1,a,u1,2022-10-31 08:00:00,2022-10-31 09:00:00,2022-10-31 09:00:00,1,3,180,1,0:0,0,3600\n"
      "2,b,u1,2022-10-31 08:00:00,2022-10-31 09:00:00,2022-10-31 09:00:00,1,3,180,1,1:0,0,3600\n"
      "3,c,u1,2022-10-31 08:00:00,2022-10-31 09:00:00,2022-10-31 10:00:00,1,3,180,1,0:0,3600,"
      "3600\n");
  EXPECT_EQ(job(trace, 1).outcome.state, JobState::cancelled);
  EXPECT_TRUE(never_ran(job(trace, 1)));
  EXPECT_EQ(job(trace, 2).outcome.state, JobState::failed);
  EXPECT_FALSE(never_ran(job(trace, 2)));
  EXPECT_FALSE(never_ran(job(trace, 3)));
}

}  // namespace
}  // namespace almanac::trace
