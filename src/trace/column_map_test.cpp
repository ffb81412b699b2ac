// SPDX-License-Identifier: Apache-2.0
#include "trace/column_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

using testing::HasSubstr;

class ColumnMapFile : public testing::Test {
 protected:
  std::string error(std::string_view toml) {
    const auto map = load_column_map(folder_.write("map.toml", toml));
    if (map) return "no error";
    const std::string text = to_string(map.error());
    return text.substr(text.find("map.toml"));
  }
  Result<Trace> read(std::string_view toml, std::string_view csv) {
    return read_trace(folder_.write("t.csv", csv), {.column_map = folder_.write("map.toml", toml)});
  }
  TemporaryFolder folder_;
};

constexpr const char* kFull = R"(
delimiter = ";"
[columns]
job_id = "id"
submit_s = {column = "submitted", unit = "date"}
run_s = {column = "minutes", unit = "min"}
gpus = {value = 4}
cpus = {column = "millicores", scale = 0.001}
user = "who"
vc = {value = "research"}
state = "how"
time_limit_s = {column = "limit", unit = "clock"}
[states]
fine = "COMPLETED"
"out of time" = "TIMEOUT"
)";

TEST_F(ColumnMapFile, ReadsAnyTable) {
  const auto trace = read(kFull,
                          "id;submitted;minutes;millicores;who;how;limit\n"
                          "j1;2020-05-27 23:58:26;1.5;8500;ann;fine;1-00:00:00\n"
                          "j2;2020-05-27 23:58:27;2;500;bob;out of time;UNLIMITED\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->format, "csv");
  const Job& job = trace->jobs[0];
  EXPECT_EQ(trace->id(job.id), "j1");
  EXPECT_EQ(job.request.submit, Time(1590623906s));
  EXPECT_EQ(job.outcome.run, 90s);
  EXPECT_EQ(job.request.gpus, 4);
  EXPECT_EQ(job.request.cpus, 8.5F);
  EXPECT_EQ(trace->names[job.request.vc], "research");
  EXPECT_EQ(job.outcome.state, JobState::completed);
  EXPECT_EQ(job.request.time_limit, 24h);
  EXPECT_EQ(trace->jobs[1].outcome.state, JobState::timeout);
  EXPECT_EQ(trace->jobs[1].request.time_limit, kNoDuration);
}

TEST_F(ColumnMapFile, NumbersRowsThatHaveNoIdAndSubtractsStartFromEnd) {
  const auto trace = read(R"(
[columns]
submit_s = {column = "t", unit = "ms"}
start_s = {column = "b", unit = "ms"}
end_s = {column = "e", unit = "ms"}
gpus = "g"
)",
                          "t,b,e,g\n0,1000,2500,1\n7,1000,1000,2\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->id(trace->jobs[0].id), "1");
  EXPECT_EQ(trace->jobs[0].outcome.run, 1500ms);
  EXPECT_EQ(trace->jobs[1].request.submit, Time(7ms));
}

TEST_F(ColumnMapFile, MultipliesColumns) {
  constexpr const char* kMap = R"(
[columns]
submit_s = "t"
run_s = {column = "r", unit = "min", scale = 0.5}
gpus = {column = "gpu", times = "workers"}
cpus = {column = "cpu", times = ["workers", "nodes"]}
nodes = "workers"
)";
  const auto trace = read(kMap, "t,r,gpu,cpu,workers,nodes\n0,6,1,2.5,16,2\n1,2,0.5,1,94,1\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->jobs[0].request.gpus, 16);
  EXPECT_EQ(trace->jobs[0].request.cpus, 80);
  EXPECT_EQ(trace->jobs[0].outcome.run, 180s);
  EXPECT_EQ(trace->jobs[1].request.gpus, 47);
  const auto missing = read(kMap, "t,r,gpu,cpu,workers\n0,6,1,2.5,16\n");
  EXPECT_THAT(
      to_string(missing.error()),
      HasSubstr("t.csv:1: the column \"nodes\", which multiplies cpu, is missing: the header "
                "has t, r, gpu, cpu, workers"));
  const auto empty = read(kMap, "t,r,gpu,cpu,workers,nodes\n0,6,1,2.5,,2\n");
  EXPECT_THAT(to_string(empty.error()),
              HasSubstr("t.csv:2: workers must be a number of 0 or more, found \"\""));
  EXPECT_THAT(error("[columns]\nsubmit_s = \"t\"\nuser = {column = \"u\", times = \"n\"}\n"),
              HasSubstr("map.toml:3:8: user is not a number that scale or times can multiply"));
}

TEST_F(ColumnMapFile, AddsUpTheTimeBetweenJobs) {
  const std::string_view map = "columns = {gap_s = \"interval\", run_s = \"r\", gpus = \"g\"}";
  const auto trace = read(map, "interval,r,g\n0,5,1\n10,5,1\n2.5,5,2\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->jobs[1].request.submit, Time(10s));
  EXPECT_EQ(trace->jobs[2].request.submit, Time(12500ms));
  // A job that is left out came all the same.
  const auto lenient = read_trace(folder_.write("t.csv", "interval,r,g\n5,5,1\n10,-5,1\n2.5,5,2\n"),
                                  {.column_map = folder_.write("map.toml", map), .lenient = true});
  ASSERT_TRUE(lenient) << to_string(lenient.error());
  EXPECT_EQ(lenient->jobs.at(1).request.submit, Time(17500ms));
}

TEST_F(ColumnMapFile, ReadsLengthsAsPythonPrintsThem) {
  const auto trace =
      read("columns = {submit_s = \"t\", run_s = {column = \"r\", unit = \"clock\"}, gpus = \"g\"}",
           "t,r,g\n0,\"1 day, 6:00:00\",1\n1,0:00:03,1\n2,2 days 01:00:00.5,1\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->jobs[0].outcome.run, 30h);
  EXPECT_EQ(trace->jobs[1].outcome.run, 3s);
  EXPECT_EQ(trace->jobs[2].outcome.run, 49h + 500ms);
}

TEST_F(ColumnMapFile, FindsTheDelimiterWhereItIsNotTold) {
  for (const char* const table : {"t;r;g\n0;5;1\n", "t\tr\tg\n0\t5\t1\n", "t|r|g\n0|5|1\n"}) {
    const auto trace = read("columns = {submit_s = \"t\", run_s = \"r\", gpus = \"g\"}", table);
    ASSERT_TRUE(trace) << to_string(trace.error());
    EXPECT_EQ(trace->jobs.at(0).outcome.run, 5s) << table;
  }
}

TEST_F(ColumnMapFile, NamesAColumnThatTheTableLacks) {
  const auto trace =
      read("columns = {submit_s = \"t\", run_s = \"r\", gpus = \"gpu\"}", "t,r,gpus\n0,1,2\n");
  ASSERT_FALSE(trace);
  EXPECT_THAT(to_string(trace.error()),
              HasSubstr("t.csv:1: the column \"gpu\" is missing (csv format): the header has t, r, "
                        "gpus (did you mean gpus?)"));
}

TEST_F(ColumnMapFile, NamesTheLineOfAMistake) {
  EXPECT_EQ(
      error("[columns]\nsubmit = \"t\"\n"),
      "map.toml:2:10: unknown key \"submit\"; "
      "known are job_id, submit_s, eligible_s, gap_s, wait_s, run_s, gpus, span_s, name, comment, "
      "user, "
      "vc, kind, gpu_type, gpu_share, gpu_profile, gpu_memory_gb, cpus, memory_gb, nodes, "
      "node_list, shards, mps, time_limit_s, predicted_s, start_s, end_s, state, attempts, "
      "model, batch, steps, max_gpus, min_gpus, plan_gpus, nvlink_gpus, alternatives, group, "
      "metric, "
      "deadline_s, "
      "worthless_at_s, value, restart_s, checkpoint_s, qos, account, partition, reservation, "
      "constraints, submit_line, priority, flags, reason, priority_tier, requeue, after, "
      "array_limit, reference_cpus, "
      "reference_memory_gb, reference_profile, bandwidth_gbs, step_s, network_s, network_gbps, "
      "data_set, data_gb, read_gbs "
      "(did you mean submit_s?)");
  EXPECT_THAT(
      error("[columns]\nrun_s = {column = \"r\", unit = \"minutes\"}\n"),
      HasSubstr(
          "map.toml:2:31: unit must be one of any date ms s min h d clock, found \"minutes\""));
  EXPECT_THAT(error("[column]\n"), HasSubstr("did you mean columns?"));
  EXPECT_THAT(error("[columns]\nrun_s = 5\n"), HasSubstr("run_s must be a column name or a table"));
  EXPECT_THAT(error("[columns]\nrun_s = {unit = \"s\"}\n"),
              HasSubstr("run_s must have a \"column\" or a \"value\""));
  EXPECT_THAT(error("[states]\nx = \"GOOD\"\n"), HasSubstr("a state must be one of COMPLETED"));
  EXPECT_THAT(error("delimiter = \"::\"\n"), HasSubstr("delimiter must be one of"));
  EXPECT_THAT(error("[columns\n"), HasSubstr("map.toml:1:9: not valid TOML"));
}

TEST_F(ColumnMapFile, SaysWhatItMustHave) {
  EXPECT_EQ(
      error("[columns]\nsubmit_s = \"t\"\ngpus = \"g\"\n"),
      "map.toml: [columns] must say which column is run_s or end_s (for example run_s = \"...\")");
}

TEST_F(ColumnMapFile, IsLookedForWhereItIsSaidToBe) {
  EXPECT_EQ(load_column_map(folder_ / "absent").error().code, Code::not_found);
}

TEST_F(ColumnMapFile, ExcludesAFormat) {
  const auto trace = read_trace(folder_.write("t.csv", "a\n1\n"),
                                {.format = "swf", .column_map = folder_.write("m", "")});
  EXPECT_EQ(trace.error().code, Code::usage);
}

}  // namespace
}  // namespace almanac::trace
