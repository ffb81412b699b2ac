// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Trace read(std::string_view content, std::string_view format, bool lenient = false) {
  const TemporaryFolder folder;
  auto trace = read_trace(folder.write("t", content), {.lenient = lenient});
  if (!trace) {
    ADD_FAILURE() << to_string(trace.error());
    return {};
  }
  EXPECT_EQ(trace->format, format);
  return std::move(*trace);
}

std::string error(std::string_view content) {
  const TemporaryFolder folder;
  const auto trace = read_trace(folder.write("t.json", content));
  if (trace) return "no error";
  const std::string text = to_string(trace.error());
  return text.substr(text.find("t.json"));
}

constexpr const char* kPhilly = R"([
 {"status": "Pass", "vc": "6214e9", "jobid": "application_1_2", "attempts": [
   {"start_time": "2017-10-09 07:07:00", "end_time": "2017-10-09 07:08:00",
    "detail": [{"ip": "m47", "gpus": ["gpu0", "gpu1"]}, {"ip": "m48", "gpus": ["gpu3"]}]},
   {"start_time": "2017-10-09 08:07:00", "end_time": "2017-10-09 09:08:00",
    "detail": [{"ip": "m9", "gpus": ["gpu0", "gpu1", "gpu2"]}]}],
  "submitted_time": "2017-10-09 07:06:18", "user": "ce2f4e"},
 {"status": "Killed", "vc": "6214e9", "jobid": "application_1_1", "attempts": [],
  "submitted_time": "2017-10-09 07:06:17", "user": "ce2f4e"},
 {"status": "Failed", "vc": "ee9e8c", "jobid": "application_1_3",
  "attempts": [{"start_time": null, "end_time": "None", "detail": []},
               {"start_time": "", "end_time": "2017-10-09 07:08:00",
                "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}],
  "submitted_time": "2017-10-09 07:07:18", "user": null},
 {"status": "Unsuccessful", "vc": "ee9e8c", "jobid": "application_1_4",
  "attempts": [{"start_time": "2017-10-09 07:08:00", "end_time": "", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}],
  "submitted_time": "2017-10-09 07:07:19", "user": "a"}
])";

TEST(PhillyJson, ReadsJobsWithTheirAttempts) {
  const Trace trace = read(kPhilly, "philly");
  ASSERT_EQ(trace.jobs.size(), 4U);
  const Job& job = trace.jobs[1];  // the second by submission
  EXPECT_EQ(trace.id(job.id), "application_1_2");
  EXPECT_EQ(job.request.gpus, 3);
  EXPECT_EQ(job.request.nodes, 2);
  EXPECT_EQ(job.outcome.attempts, 2);
  EXPECT_EQ(job.outcome.run, 2h + 1min);
  EXPECT_EQ(job.outcome.state, JobState::completed);
  ASSERT_EQ(trace.attempts.size(), 5U);
  EXPECT_EQ(trace.attempts[0].job, 1U);
  EXPECT_EQ(trace.attempts[0].num_pieces, 2U);
  const Piece& piece = trace.pieces[trace.attempts[0].first_piece + 1];
  EXPECT_EQ(trace.names[piece.machine], "m48");
  EXPECT_EQ(piece.gpus, 1);
  EXPECT_EQ(trace.attempts[1].start - trace.attempts[0].end, 59min);
}

TEST(PhillyJson, KeepsJobsWhoseRunIsUnknown) {
  const Trace trace = read(kPhilly, "philly");
  const Job& without_attempts = trace.jobs[0];
  EXPECT_EQ(without_attempts.request.gpus, 0);
  EXPECT_EQ(without_attempts.outcome.run, 0s);
  EXPECT_EQ(without_attempts.outcome.state, JobState::cancelled);
  const Job& without_start = trace.jobs[2];
  EXPECT_EQ(without_start.request.gpus, 1);  // of the first attempt that names any
  EXPECT_EQ(without_start.outcome.run, 0s);
  EXPECT_EQ(without_start.request.user, kNoName);
  EXPECT_EQ(trace.jobs[3].outcome.end, kNoTime);
  EXPECT_THAT(
      trace.notes,
      ElementsAre(
          "the rows were not in order of submission and have been sorted (out of order: 1)",
          "jobs that are Unsuccessful (killed or failed, unknown which; treated as FAILED): 1",
          "jobs whose first start or last end is not recorded (treated as a run of 0 s): 2",
          "jobs without attempts (treated as a run of 0 s on 0 GPUs): 1"));
}

TEST(PhillyJson, NamesTheLineOfABadRecord) {
  const std::string good =
      R"({"status": "Pass", "vc": "v", "jobid": "a", "attempts": [], "submitted_time": "2017-10-09 07:06:18", "user": "u"})";
  const auto with = [&](const char* second) { return "[\n" + good + ",\n" + second + "\n]\n"; };
  EXPECT_EQ(error(with(R"({"jobid": "b", "status": "Pass", "attempts": []})")),
            "t.json:3: submitted_time must not be empty (use --lenient to drop such rows)");
  EXPECT_EQ(
      error(with(
          R"({"jobid": "b", "status": "Fine", "attempts": [], "submitted_time": "2017-10-09 07:06:18"})")),
      "t.json:3: status must be Pass, Killed or Failed, found \"Fine\" (use --lenient to drop such "
      "rows)");
  EXPECT_EQ(error(with(R"({"jobid": "b", "submitted_time": 5})")),
            "t.json:3: submitted_time must be a text (use --lenient to drop such rows)");
  EXPECT_EQ(
      error(with(R"({"jobid": "b", "submitted_time": "yesterday"})")),
      "t.json:3: submitted_time must be a time as YYYY-MM-DD hh:mm:ss, found \"yesterday\" (use "
      "--lenient to drop such rows)");
  EXPECT_EQ(error(with("17")),
            "t.json:3: a job must be an object (use --lenient to drop such rows)");
  EXPECT_EQ(error(with(good.c_str())),
            "t.json:3: a job id must be unique: \"a\" is already in line 2 (use --lenient to drop "
            "such rows)");
}

TEST(PhillyJson, RefusesAJobThatEndsBeforeItStarts) {
  EXPECT_EQ(
      error(
          R"([{"jobid": "b", "status": "Pass", "submitted_time": "2017-10-09 07:06:18", "attempts": [
    {"start_time": "2017-10-09 07:07:00", "end_time": "2017-10-09 07:06:59", "detail": []}]}])"),
      "t.json:1: the end must not come before the start: job b ends 1 s before (use --lenient to "
      "drop such rows)");
}

TEST(PhillyJson, DropsTheAttemptsOfDroppedJobs) {
  const Trace trace = read(R"([
    {"jobid": "a", "status": "Pass", "submitted_time": "2017-10-09 07:06:18", "attempts": [
      {"start_time": "2017-10-09 07:07:00", "end_time": "2017-10-09 07:06:59", "detail": [{"ip": "m1", "gpus": []}]}]},
    {"jobid": "b", "status": "Pass", "submitted_time": "2017-10-09 07:06:18", "attempts": [
      {"start_time": "2017-10-09 07:07:00", "end_time": "2017-10-09 07:07:59", "detail": [{"ip": 5}]}]},
    {"jobid": "c", "status": "Pass", "submitted_time": "2017-10-09 07:06:18", "attempts": [
      {"start_time": "2017-10-09 07:07:00", "end_time": "2017-10-09 07:07:59", "detail": [{"ip": "m2", "gpus": ["gpu0"]}]}]}
  ])",
                           "philly", true);
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.dropped, 2);
  ASSERT_EQ(trace.attempts.size(), 1U);
  EXPECT_EQ(trace.attempts[0].job, 0U);
  ASSERT_EQ(trace.pieces.size(), 1U);
}

TEST(PhillyJson, SaysThatTheJsonIsBroken) {
  const std::string whole = kPhilly;
  EXPECT_THAT(error(whole.substr(0, 600)), HasSubstr("the JSON is broken or cut off"));
  EXPECT_THAT(error("[{\"jobid\": \"a\" \"attempts\": []}]"),
              HasSubstr("t.json:1: the JSON is broken"));
}

constexpr const char* kSacct = R"({"meta": {"plugin": {"type": "openapi\/dbv0.0.38"},
 "Slurm": {"version": {"major": 22, "micro": 8, "minor": 5}, "release": "22.05.8"}}, "errors": [],
 "jobs": [
 {"account": "root", "array": {"job_id": 7, "limits": {"max": {"running": {"tasks": 0}}}, "task": null, "task_id": 3},
  "het": {"job_id": 0, "job_offset": null}, "job_id": 10, "name": "wrap", "partition": "gpu", "qos": "normal",
  "state": {"current": "COMPLETED", "reason": "None"}, "steps": [{"state": "COMPLETED"}],
  "time": {"elapsed": 10, "eligible": 1000, "end": 1025, "start": 1000, "submission": 1000, "suspended": 5, "limit": 60},
  "tres": {"allocated": [{"type": "cpu", "name": null, "id": 1, "count": 8}, {"type": "mem", "name": null, "id": 2, "count": 2048},
   {"type": "node", "name": null, "id": 4, "count": 2}, {"type": "gres", "name": "gpu", "id": 1001, "count": 4},
   {"type": "gres", "name": "gpu:a100", "id": 1002, "count": 4}], "requested": []}, "user": "ann"},
 {"account": "lab", "array": {"job_id": 0, "task_id": null}, "het": {"job_id": 20, "job_offset": 1}, "job_id": 21,
  "name": "part", "partition": "", "qos": "normal", "state": {"current": "CANCELLED", "reason": "None"},
  "time": {"elapsed": 0, "end": 1050, "start": 0, "submission": 1001, "suspended": 0, "limit": null},
  "tres": {"allocated": [], "requested": [{"type": "gres", "name": "gpu", "count": 2}]}, "user": "bob"}
]})";

TEST(SacctJson, RefusesJobsOfASecondCluster) {
  const auto job = [](int id, const char* cluster) {
    return fmt::format(
        R"({{"job_id": {}, "cluster": "{}", "name": "a", "partition": "gpu", "user": "ann",
        "state": {{"current": "COMPLETED"}},
        "time": {{"elapsed": 10, "end": 1010, "start": 1000, "submission": 1000}},
        "tres": {{"allocated": [{{"type": "gres", "name": "gpu", "count": 2}}], "requested": []}}}})",
        id, cluster);
  };
  const std::string log = "{\"jobs\": [" + job(1, "alpha") + ",\n" + job(1, "beta") + "]}";
  EXPECT_THAT(error(log), HasSubstr("a log must be of one cluster: \"beta\" here, \"alpha\" in "
                                    "line 1 (sacct -M alpha prints one cluster; --lenient drops "
                                    "the rows of the others)"));
  const Trace trace = read(log, "sacct-json", true);
  EXPECT_EQ(trace.jobs.size(), 1U);
  EXPECT_THAT(trace.notes, testing::Contains(HasSubstr("dropped 1 of 2 rows: 1 x a log must be of "
                                                       "one cluster")));
}

TEST(SacctJson, KeepsAJobWhoseReservationHasANumberForAName) {
  const Trace trace = read(R"({"jobs": [{"job_id": 1, "user": "ann",
    "reservation": {"id": 2, "name": 477137264}, "state": {"current": ["COMPLETED"]},
    "time": {"elapsed": 10, "end": 1050, "start": 1040, "submission": 1000},
    "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 2}], "requested": []}}]})",
                           "sacct-json");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].request.reservation, kNoName);
}

TEST(SacctJson, RefusesMoreGpusThanAJobCanHave) {
  EXPECT_THAT(
      error(R"({"jobs": [{"job_id": 1, "user": "ann", "state": {"current": ["COMPLETED"]},
    "time": {"elapsed": 10, "end": 1050, "start": 1040, "submission": 1000},
    "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 99999999999}]}}]})"),
      HasSubstr("tres/allocated must have counts of 1000000 or less, found gres/gpu=99999999999"));
}

TEST(SacctJson, TakesHowSlurmScheduledAJob) {
  const Trace trace = read(R"({"jobs": [{"job_id": 1, "account": "lab", "partition": "gpu",
    "qos": "high", "user": "ann", "constraints": "a100", "reservation": {"id": 3, "name": "course"},
    "priority": {"set": true, "infinite": false, "number": 12345}, "restart_cnt": 1,
    "flags": ["STARTED_ON_BACKFILL", "START_RECEIVED"], "submit_line": "sbatch -N 1-2 a.sh",
    "state": {"current": ["COMPLETED"], "reason": "AssocGrpGRES"},
    "time": {"elapsed": 10, "end": 1050, "start": 1040, "submission": 1000, "eligible": 1030},
    "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 2}], "requested": []}}]})",
                           "sacct-json");
  ASSERT_EQ(trace.jobs.size(), 1U);
  const Job& job = trace.jobs[0];
  EXPECT_EQ(trace.names[job.request.account], "lab");
  EXPECT_EQ(trace.names[job.request.partition], "gpu");
  EXPECT_EQ(trace.names[job.request.reservation], "course");
  EXPECT_EQ(trace.names[job.request.constraints], "a100");
  EXPECT_EQ(trace.names[job.request.submit_line], "sbatch -N 1-2 a.sh");
  EXPECT_EQ(trace.names[job.outcome.reason], "AssocGrpGRES");
  EXPECT_EQ(trace.names[job.outcome.flags], "STARTED_ON_BACKFILL,START_RECEIVED");
  EXPECT_EQ(job.outcome.priority, 12345);
  EXPECT_EQ(job.outcome.attempts, 2);
  EXPECT_EQ(job.outcome.start - job.request.submit, 10s);
}

TEST(SacctJson, ReadsWhatSlurm2205Prints) {
  const Trace trace = read(kSacct, "sacct-json");
  ASSERT_EQ(trace.jobs.size(), 2U);
  const Job& job = trace.jobs[0];
  EXPECT_EQ(trace.id(job.id), "7_3");
  EXPECT_EQ(job.request.gpus, 4);
  EXPECT_EQ(job.request.nodes, 2);
  EXPECT_EQ(job.request.cpus, 8);
  EXPECT_EQ(job.request.memory_gb, 2);
  EXPECT_EQ(trace.names[job.request.gpu_type], "a100");
  EXPECT_EQ(trace.names[job.request.user], "ann");
  EXPECT_EQ(trace.names[job.request.vc], "gpu");
  EXPECT_EQ(job.request.time_limit, 1h);
  EXPECT_EQ(job.outcome.run, 10s);
  EXPECT_EQ(job.outcome.state, JobState::completed);
}

TEST(SacctJson, DoesNotTrustTheStartOfAJobThatHasEnded) {
  // It ran 10 s and was suspended for 5 s; the "start" of 1000 is when it became eligible.
  EXPECT_EQ(read(kSacct, "sacct-json").jobs[0].outcome.start, Time(1010s));
}

TEST(SacctJson, ReadsAJobThatNeverStarted) {
  const Trace trace = read(kSacct, "sacct-json");
  const Job& job = trace.jobs[1];
  EXPECT_EQ(trace.id(job.id), "20+1");
  EXPECT_EQ(job.request.gpus, 2);
  EXPECT_EQ(job.outcome.start, kNoTime);
  EXPECT_EQ(job.outcome.run, 0s);
  EXPECT_EQ(job.request.time_limit, kNoDuration);
  EXPECT_EQ(trace.names[job.request.vc], "lab");
}

TEST(SacctJson, ReadsTheLaterSpelling) {
  const Trace trace =
      read(R"({"jobs": [{"job_id": 5, "state": {"current": ["RUNNING", "COMPLETING"]},
    "time": {"elapsed": 10, "end": 0, "start": 990, "submission": {"set": true, "infinite": false, "number": 980},
             "limit": {"set": false, "infinite": true, "number": 0}},
    "array": {"job_id": 0}, "tres": {"allocated": [{"type": "gres", "name": "gpu:h100", "count": 2}]}}]})",
           "sacct-json");
  const Job& job = trace.jobs.at(0);
  EXPECT_EQ(job.request.submit, Time(980s));
  EXPECT_EQ(job.outcome.start, Time(990s));
  EXPECT_EQ(job.outcome.state, JobState::running);
  EXPECT_EQ(job.request.time_limit, kNoDuration);
  EXPECT_EQ(job.request.gpus, 2);
}

TEST(SacctJson, ReadsTheCommentOfAJob) {
  const Trace trace = read(R"({"jobs": [{"job_id": 5, "name": "a",
    "comment": {"administrator": "", "job": "ablation 3", "system": ""},
    "state": {"current": "COMPLETED"}, "time": {"elapsed": 10, "end": 1000, "submission": 980},
    "tres": {"allocated": [{"type": "cpu", "count": 2}]}}]})",
                           "sacct-json");
  EXPECT_EQ(trace.names[trace.jobs.at(0).request.comment], "ablation 3");
}

TEST(SacctJson, TakesSlurmsNoValueAsMissing) {
  const Trace trace =
      read(R"({"jobs": [{"job_id": 5, "state": {"current": "COMPLETED"}, "time": {"elapsed": 10,
    "end": 1000, "submission": 980, "limit": 4294967295}, "array": {"job_id": 0, "task_id": 4294967294},
    "tres": {"allocated": [{"type": "cpu", "count": 2}]}}]})",
           "sacct-json");
  EXPECT_EQ(trace.jobs.at(0).request.time_limit, kNoDuration);
  EXPECT_EQ(trace.jobs.at(0).request.gpus, 0);
}

/// A record of `id`, of 2 GPUs.
std::string sacct_record(int id, const char* states, int submit, int start, int end) {
  return fmt::format(
      R"({{"job_id": {}, "user": "ann", "name": "a", "state": {{"current": {}}},
      "time": {{"submission": {}, "start": {}, "end": {}, "elapsed": {}}},
      "tres": {{"allocated": [{{"type": "gres", "name": "gpu", "count": 2}},
                              {{"type": "cpu", "count": 18446744073709551614}}]}}}})",
      id, states, submit, start, end, end - start);
}

TEST(SacctJson, ReadsRunsStatesAndCodesAsTheTextDoes) {
  const std::string records = sacct_record(5, R"(["REQUEUED"])", 1000, 1010, 1110) + "," +
                              sacct_record(5, R"(["COMPLETED", "COMPLETING"])", 1110, 1200, 1500) +
                              "," + sacct_record(6, R"(["LAUNCH_FAILED"])", 2000, 2010, 2020) +
                              "," + sacct_record(7, R"("RESIZING")", 3000, 3010, 3110) + "," +
                              sacct_record(7, R"("FAILED")", 3000, 3110, 3210);
  const Trace trace = read(R"({"jobs": [)" + records + "]}", "sacct-json");
  ASSERT_EQ(trace.jobs.size(), 3U);
  EXPECT_EQ(trace.jobs[0].outcome.run, 400s);
  EXPECT_EQ(trace.jobs[0].outcome.attempts, 2);
  EXPECT_EQ(trace.jobs[0].outcome.state, JobState::completed);
  EXPECT_TRUE(std::isnan(trace.jobs[0].request.cpus));
  EXPECT_EQ(trace.jobs[1].outcome.state, JobState::unknown);
  EXPECT_EQ(trace.jobs[2].outcome.run, 200s);
  EXPECT_EQ(trace.jobs[2].outcome.start, Time(3010s));
  EXPECT_THAT(trace.notes, testing::Contains(testing::StartsWith("jobs whose state does not say")));
}

TEST(SacctJson, NamesTheLineOfABadRecord) {
  EXPECT_EQ(error("{\"jobs\": [\n{\"job_id\": 1}\n]}"),
            "t.json:2: time must not be empty (use --lenient to drop such rows)");
  EXPECT_EQ(error("{\"jobs\": [\n{\"time\": {}}\n]}"),
            "t.json:2: job_id must not be empty (use --lenient to drop such rows)");
  EXPECT_EQ(error("{\"jobs\": 5}"), "t.json:1: the JSON must have an array \"jobs\"");
  EXPECT_EQ(error("{\"Slurm\": 5}"), "t.json:1: the JSON must have an array \"jobs\"");
}

}  // namespace
}  // namespace almanac::trace
