// SPDX-License-Identifier: Apache-2.0
#include "trace/read.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "table/output_file.h"
#include "table/stream.h"
#include "trace/metric.h"

namespace almanac::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHeader = "job_id,submit_s,run_s,gpus\n";

class ReadTrace : public testing::Test {
 protected:
  Result<Trace> read(std::string_view content, const ReadOptions& options = {}) {
    return read_trace(folder_.write("t.csv", content), options);
  }
  /// The error, as printed, from the file's name on.
  std::string error(std::string_view content, const ReadOptions& options = {}) {
    const auto trace = read(content, options);
    if (trace) return "no error";
    const std::string text = to_string(trace.error());
    const auto at = text.find("t.csv");
    return at == std::string::npos ? text : text.substr(at);
  }
  static std::vector<std::string> ids(const Trace& trace) {
    std::vector<std::string> all;
    for (const Job& job : trace.jobs) all.push_back(trace.id(job.id));
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(ReadTrace, KeepsWhatTheFileSays) {
  const auto trace = read(std::string(kHeader) + "7,100,3.5,8\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->format, "almanac");
  EXPECT_EQ(trace->rows, 1);
  EXPECT_EQ(trace->sha256.size(), 64U);
  EXPECT_THAT(trace->notes, testing::IsEmpty());
  const Job& job = trace->jobs.at(0);
  EXPECT_EQ(trace->id(job.id), "7");
  EXPECT_EQ(job.request.submit, Time(100s));
  EXPECT_EQ(job.outcome.run, 3500ms);
  EXPECT_EQ(job.request.gpus, 8);
  EXPECT_EQ(job.request.user, kNoName);
  EXPECT_EQ(job.request.time_limit, kNoDuration);
  EXPECT_TRUE(std::isnan(job.request.cpus));
}

TEST_F(ReadTrace, ATimeLimitOfZeroIsNone) {
  const auto trace = read("job_id,submit_s,run_s,gpus,time_limit_s\n1,0,9,1,0\n2,0,9,1,60\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->jobs.at(0).request.time_limit, kNoDuration);
  EXPECT_EQ(trace->jobs.at(1).request.time_limit, 60s);
}

TEST_F(ReadTrace, KeepsWhatARunWasRecordedWith) {
  const auto trace = read(
      "job_id,submit_s,run_s,gpus,reference_cpus,reference_memory_gb,bandwidth_gbs,step_s,"
      "network_s,network_gbps,data_set,data_gb,read_gbs\n"
      "1,0,9,1,inf,62.5,6.5,0.012,0.004,10,imagenet,143,0.5\n2,0,9,1,,,0,,,,,,\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  const Outcome& told = trace->jobs[0].outcome;
  EXPECT_EQ(told.reference_cpus, std::numeric_limits<float>::infinity());
  EXPECT_EQ(told.reference_memory_gb, 62.5F);
  EXPECT_EQ(told.bandwidth_gbs, 6.5F);
  EXPECT_EQ(told.step_s, 0.012F);
  EXPECT_EQ(told.network_s, 0.004F);
  EXPECT_EQ(told.network_gbps, 10);
  EXPECT_EQ(told.read_gbs, 0.5F);
  EXPECT_EQ(trace->names[trace->jobs[0].request.data_set], "imagenet");
  EXPECT_EQ(trace->jobs[0].request.data_gb, 143);
  const Outcome& not_told = trace->jobs[1].outcome;
  EXPECT_TRUE(std::isnan(not_told.reference_cpus));
  EXPECT_TRUE(std::isnan(not_told.reference_memory_gb));
  EXPECT_EQ(not_told.bandwidth_gbs, 0);
  EXPECT_TRUE(std::isnan(not_told.step_s));
  EXPECT_TRUE(std::isnan(not_told.network_s));
  EXPECT_EQ(trace->jobs[1].request.data_set, kNoName);
}

TEST_F(ReadTrace, RefusesARunRecordedWithNothing) {
  const auto error_of = [&](const std::string& column, const std::string& value) {
    return error("job_id,submit_s,run_s,gpus," + column + "\n1,0,9,1," + value + "\n");
  };
  for (const char* const value : {"0", "-1", "1e-60", "x"}) {
    EXPECT_THAT(error_of("reference_cpus", value),
                HasSubstr("t.csv:2: reference_cpus must be a number above 0, or inf, found \"" +
                          std::string(value) + "\""));
    EXPECT_THAT(error_of("reference_memory_gb", value), HasSubstr("must be a number above 0"));
    EXPECT_THAT(error_of("step_s", value),
                HasSubstr("t.csv:2: step_s must be a number above 0, found "));
  }
  EXPECT_THAT(error_of("step_s", "inf"),
              HasSubstr("step_s must be a number above 0, found \"inf\""));
  EXPECT_THAT(error_of("bandwidth_gbs", "-1"),
              HasSubstr("t.csv:2: bandwidth_gbs must be a number of 0 or more, found \"-1\""));
  EXPECT_THAT(error_of("bandwidth_gbs", "inf"), HasSubstr("a number of 0 or more"));
}

TEST_F(ReadTrace, KeepsDeadlineAndWork) {
  const auto trace = read(
      "job_id,submit_s,run_s,gpus,batch,steps,max_gpus,deadline_s,worthless_at_s,value,qos\n"
      "7,100,3.5,2,64,40000,16,200,260.5,2.5,prior\n"
      "8,100,3.5,2,,,,,,,\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  const Request& request = trace->jobs.at(0).request;
  EXPECT_EQ(request.batch, 64);
  EXPECT_EQ(request.steps, 40000);
  EXPECT_EQ(request.max_gpus, 16);
  EXPECT_EQ(request.deadline, Time(200s));
  EXPECT_EQ(request.worthless_at, Time(260500ms));
  EXPECT_EQ(request.value, 2.5F);
  EXPECT_EQ(trace->names[request.qos], "prior");
  const Request& none = trace->jobs.at(1).request;
  EXPECT_EQ(none.batch + none.steps + none.max_gpus, 0);
  EXPECT_EQ(none.deadline, kNoTime);
  EXPECT_EQ(none.worthless_at, kNoTime);
  EXPECT_TRUE(std::isnan(none.value));
}

TEST_F(ReadTrace, KeepsTheSweepAndWhatATrialReports) {
  const auto trace = read(
      "job_id,submit_s,run_s,gpus,steps,group,metric\n"
      "1,0,10,1,100,lr,10:0.5|40:-2e-3\n"
      "2,0,10,1,100,,\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->names[trace->jobs.at(0).request.group], "lr");
  const auto points = parse_metric(trace->names[trace->jobs.at(0).outcome.metric]);
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 2U);
  EXPECT_EQ(points->at(1).steps, 40);
  EXPECT_EQ(points->at(1).value, -2e-3);
  EXPECT_EQ(trace->jobs.at(1).request.group, kNoName);
  EXPECT_EQ(trace->jobs.at(1).outcome.metric, kNoName);
}

TEST_F(ReadTrace, RefusesARequestThatContradictsItself) {
  const auto with = [&](const char* columns, const char* cells) {
    return error(std::string("job_id,submit_s,run_s,gpus,") + columns + "\n1,0,1," + cells + "\n");
  };
  EXPECT_THAT(with("worthless_at_s", "2,50"),
              HasSubstr("t.csv:2: worthless_at_s requires a deadline_s: job 1 has none"));
  EXPECT_THAT(with("deadline_s,worthless_at_s", "2,60,50"),
              HasSubstr("worthless_at_s must not come before deadline_s: job 1 is 10 s before"));
  EXPECT_THAT(with("max_gpus", "4,2"),
              HasSubstr("max_gpus must not be below gpus: job 1 requests 4 and at most 2"));
  EXPECT_THAT(with("max_gpus,min_gpus", "2,4,3"),
              HasSubstr("min_gpus requires max_gpus, and must not be above gpus: job 1 requests 2, "
                        "at least 3 and at most 4"));
  EXPECT_THAT(with("min_gpus", "2,1"), HasSubstr("min_gpus requires max_gpus"));
  EXPECT_THAT(with("nvlink_gpus", "6,4"),
              HasSubstr("gpus must be a multiple of nvlink_gpus, the GPUs that share an NVLink "
                        "domain: job 1 requests 6 in groups of 4"));
  EXPECT_THAT(with("nvlink_gpus", "0,4"), HasSubstr("job 1 requests 0 in groups of 4"));
  EXPECT_THAT(with("nvlink_gpus,gpu_profile", "4,4,1g.10gb"),
              HasSubstr("nvlink_gpus and gpu_profile exclude each other: job 1 has both"));
  EXPECT_THAT(with("max_gpus,alternatives", "1,2,cpu:8"),
              HasSubstr("max_gpus and alternatives exclude each other: job 1 has both"));
  for (const std::string_view wrong : {"gpu", "gpu:", "gpu:0", "gpu:1.5", "gpu::2", "cpu:v100:2",
                                       "cpu:0", "gpu:2@0", "gpu:2@x", "tpu:2", "cpu:8||gpu:1"}) {
    EXPECT_THAT(with("alternatives", fmt::format("1,{}", wrong).c_str()),
                HasSubstr("alternatives must be what the job would accept instead, such as "))
        << wrong;
  }
  for (const std::string_view wrong : {"0.5", "10:", "10:x", "0:1", "10:1|10:2", "10:1||20:2"}) {
    EXPECT_THAT(
        with("steps,metric", fmt::format("1,9,{}", wrong).c_str()),
        HasSubstr("metric must be the job's reported metric after a number of steps, such as "))
        << wrong;
  }
  EXPECT_THAT(with("metric", "1,10:0.5"),
              HasSubstr("metric requires steps of 1 or more: job 1 has none"));
  EXPECT_THAT(with("max_gpus", "0,2"),
              HasSubstr("max_gpus requires gpus of 1 or more: job 1 requests none"));
  EXPECT_THAT(with("value", "4,-1"),
              HasSubstr("value must be a number of 0 or more, found \"-1\""));
  EXPECT_THAT(with("batch", "4,1.5"), HasSubstr("batch must be a whole number of 0 or more"));
  EXPECT_THAT(with("steps", "4,1e30"), HasSubstr("steps must be a whole number of 0 or more"));
}

TEST_F(ReadTrace, TakesColumnsInAnyOrderAndLeavesOutUnknownOnes) {
  const auto trace = read("gpus,extra,run_s,user,submit_s,job_id\n8,?,5,ann,1,a\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->id(trace->jobs[0].id), "a");
  EXPECT_EQ(trace->names[trace->jobs[0].request.user], "ann");
}

TEST_F(ReadTrace, UnpacksGzipAndZstd) {
  const std::string content = std::string(kHeader) + "7,100,3,8\n";
  for (const char* name : {"t.gz", "t.zst"}) {
    ASSERT_TRUE(table::write_file(folder_ / name, content));
    EXPECT_EQ(read_trace(folder_ / name).value().jobs.size(), 1U);
  }
}

// Bad input: one line with the file and the line of it.

TEST_F(ReadTrace, RefusesAFileThatIsNotThere) {
  const auto trace = read_trace(folder_ / "absent.csv");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, Code::not_found);
}

TEST_F(ReadTrace, RefusesAnEmptyFile) {
  EXPECT_EQ(error(""), "t.csv: the file is empty");
  EXPECT_EQ(read("").error().code, Code::corrupt);
}

TEST_F(ReadTrace, RefusesAFileWithoutJobs) {
  EXPECT_EQ(error(kHeader), "t.csv: the file has no jobs");
}

TEST_F(ReadTrace, NamesAMissingColumnAndTheOneThatMayBeMeant) {
  EXPECT_EQ(error("job_id,submit_s,run_s,gpu,user\n1,0,1,1,a\n"),
            "t.csv:1: the column \"gpus\" is missing (almanac format): the header has job_id, "
            "submit_s, run_s, gpu, user (did you mean gpu?)");
  EXPECT_EQ(error("job_id,submit_s,seconds,gpus,user\n1,0,1,1,a\n"),
            "t.csv:1: the column \"run_s\" is missing (almanac format): the header has job_id, "
            "submit_s, seconds, gpus, user (add it, or name the columns of this file in a column "
            "map; see almanac help formats)");
}

TEST_F(ReadTrace, RefusesANegativeDuration) {
  EXPECT_EQ(error(std::string(kHeader) + "1,0,1,1\n2,0,-5,1\n"),
            "t.csv:3: run_s must be a number of 0 or more, found \"-5\" (use --lenient to drop "
            "such rows)");
}

TEST_F(ReadTrace, RefusesAnEndBeforeItsStart) {
  EXPECT_EQ(error("job_id,submit_s,run_s,gpus,start_s,end_s\n1,0,1,1,10,8\n"),
            "t.csv:2: the end must not come before the start: job 1 ends 2 s before (use --lenient "
            "to drop such rows)");
}

TEST_F(ReadTrace, RefusesAnIdThatComesTwice) {
  EXPECT_EQ(error(std::string(kHeader) + "5,0,1,1\n6,0,1,1\n5,3,1,1\n"),
            "t.csv:4: a job id must be unique: \"5\" is already in line 2 (use --lenient to drop "
            "such rows)");
  EXPECT_EQ(error(std::string(kHeader) + "a,0,1,1\na,0,1,1\n"),
            "t.csv:3: a job id must be unique: \"a\" is already in line 2 (use --lenient to drop "
            "such rows)");
}

TEST_F(ReadTrace, RefusesGzipThatIsCutOff) {
  std::string content = kHeader;
  for (int i = 0; i < 1000; ++i)
    content += std::to_string(i) + "," + std::to_string(i * i) + ",1,1\n";
  ASSERT_TRUE(table::write_file(folder_ / "whole.gz", content));
  std::ifstream whole(folder_ / "whole.gz", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  for (const std::size_t size : {bytes.size() - 4, bytes.size() / 2}) {
    EXPECT_EQ(error(bytes.substr(0, size), {.lenient = true}),
              "t.csv: the gzip file ends too early (copy or download it again)");
  }
}

TEST_F(ReadTrace, RefusesANulByte) {
  const std::string content =
      std::string(kHeader) + "1,0,1,1\n2,0," + std::string(1, '\0') + "1,1\n";
  EXPECT_EQ(error(content, {.lenient = true}),
            "t.csv:3: the file has a NUL byte: not a text file (UTF-16 must be converted to UTF-8 "
            "first)");
}

TEST_F(ReadTrace, RefusesMixedTimeFormats) {
  constexpr const char* kHelios = "job_id,submit_time,gpu_num,duration\n";
  EXPECT_EQ(error(std::string(kHelios) + "1,2020-05-27 23:58:26,1,5\n2,1590623906,1,5\n"),
            "t.csv:3: submit_time must not mix time formats: \"1590623906\", but line 2 has a date "
            "and time (use --lenient to drop such rows)");
  EXPECT_EQ(error(std::string(kHelios) + "1,100,1,5\n2,2020-05-27 23:58:26,1,5\n"),
            "t.csv:3: submit_time must not mix time formats: \"2020-05-27 23:58:26\", but line 2 "
            "has seconds (use --lenient to drop such rows)");
}

TEST_F(ReadTrace, RefusesADateWhereSecondsBelong) {
  EXPECT_EQ(
      error(std::string(kHeader) + "1,2020-05-27 23:58:26,1,1\n"),
      "t.csv:2: submit_s must be a time as a number, found \"2020-05-27 23:58:26\" (use --lenient "
      "to drop such rows)");
}

TEST_F(ReadTrace, RefusesPartsOfAGpuWhereWholeOnesBelong) {
  EXPECT_EQ(error(std::string(kHeader) + "1,0,1,1.5\n"),
            "t.csv:2: gpus must be a whole number of 0 or more, found \"1.5\" (use --lenient to "
            "drop such "
            "rows)");
}

TEST_F(ReadTrace, RefusesEmptyFieldsThatAreNeeded) {
  EXPECT_THAT(error(std::string(kHeader) + ",0,1,1\n"),
              HasSubstr("t.csv:2: job_id must not be empty"));
  EXPECT_THAT(error(std::string(kHeader) + "1,,1,1\n"), HasSubstr("submit_s must not be empty"));
  EXPECT_THAT(error(std::string(kHeader) + "1,0,,1\n"), HasSubstr("run_s must not be empty"));
  EXPECT_THAT(error(std::string(kHeader) + "1,0,1,\n"), HasSubstr("gpus must not be empty"));
}

TEST_F(ReadTrace, RefusesAnUnknownState) {
  EXPECT_THAT(error("job_id,submit_s,run_s,gpus,state\n1,0,1,1,DONE\n"),
              HasSubstr("t.csv:2: state must be a job state, found \"DONE\""));
}

TEST_F(ReadTrace, RefusesNumbersBeyondReason) {
  EXPECT_THAT(error(std::string(kHeader) + "1,0,1,2000000\n"), HasSubstr("gpus must be"));
  EXPECT_THAT(error(std::string(kHeader) + "1,0,1e300,1\n"), HasSubstr("run_s must be"));
  EXPECT_THAT(error(std::string(kHeader) + "1,9e17,1,1\n"), HasSubstr("submit_s must be"));
}

TEST_F(ReadTrace, SaysOfANumberWhatIsWrongWithIt) {
  EXPECT_THAT(error(std::string(kHeader) + "1,0,1,2147483648\n"),
              HasSubstr("t.csv:2: gpus must be 1000000 or less, found \"2147483648\""));
  EXPECT_THAT(error(std::string(kHeader) + "1,0,1,nan\n"),
              HasSubstr("t.csv:2: gpus must be known, found \"nan\""));
  EXPECT_THAT(error(std::string(kHeader) + "1,-5,1,1\n"),
              HasSubstr("t.csv:2: the submission must be at 0 s or later: job 1 is submitted at -5 "
                        "s"));
}

TEST_F(ReadTrace, SaysWhatItSawWhenItKnowsNoFormat) {
  EXPECT_EQ(error("id;when;how long\n1;2;3\n"),
            "t.csv:1: unknown job log format; the file begins with \"id;when;how long\" (give the "
            "format with --format, or map the columns with --columns)");
}

TEST_F(ReadTrace, NamesTheKnownFormatsForAnUnknownOne) {
  const auto trace = read(kHeader, {.format = "helio"});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, Code::usage);
  EXPECT_EQ(
      to_string(trace.error()),
      "--format must be a job log format, found \"helio\" (did you mean helios?; almanac help "
      "formats describes all)");
}

TEST_F(ReadTrace, LetsAFormatBeNamed) {
  EXPECT_THAT(error(std::string(kHeader) + "1,0,1,1\n", {.format = "tacc"}),
              HasSubstr("the column \"submit_time\" is missing (tacc format)"));
}

TEST_F(ReadTrace, SaysThatAClusterFileIsOne) {
  EXPECT_EQ(error("date,vcA,vcB,total\n2020-04-01,8,16,24\n"),
            "t.csv: this is the Helios per-day VC table, a cluster file, not a job log (pass it as "
            "--cluster)");
  EXPECT_THAT(error("sn,cpu_milli,memory_mib,gpu,model\na,1,1,0,\n"), HasSubstr("openb node list"));
  EXPECT_THAT(error("machineId, number of GPUs, single GPU mem\nm0,2, 12GB\n"),
              HasSubstr("Philly machine list"));
  EXPECT_THAT(error("vc,node num\na,1\n"), HasSubstr("Philly VC table"));
}

// Order and leniency.

TEST_F(ReadTrace, SortsStablyAndSaysSo) {
  const auto trace = read(std::string(kHeader) + "a,5,1,1\nb,3,1,1\nc,5,1,1\nd,3,1,1\n");
  ASSERT_TRUE(trace);
  EXPECT_THAT(ids(*trace), ElementsAre("b", "d", "a", "c"));
  EXPECT_THAT(
      trace->notes,
      ElementsAre(
          "the rows were not in order of submission and have been sorted (out of order: 2)"));
}

TEST_F(ReadTrace, LetsIdsComeInAnyOrder) {
  EXPECT_THAT(ids(read(std::string(kHeader) + "9,0,1,1\n3,1,1,1\nx,2,1,1\n07,3,1,1\n").value()),
              ElementsAre("9", "3", "x", "07"));
}

TEST_F(ReadTrace, DropsBadRowsWhenLenientAndSaysHowManyAndWhy) {
  const auto trace =
      read(std::string(kHeader) + "1,0,1,1\n2,0,-5,1\n3,0,1,x\n4,0,1\n1,0,1,1\n5,0,-6,1\n6,0,1,1\n",
           {.lenient = true});
  ASSERT_TRUE(trace);
  EXPECT_THAT(ids(*trace), ElementsAre("1", "6"));
  EXPECT_EQ(trace->rows, 7);
  EXPECT_EQ(trace->dropped, 5);
  EXPECT_THAT(trace->notes,
              ElementsAre("dropped 5 of 7 rows: 1 x a job id must be unique (first in line 6); "
                          "1 x a row must have as many fields as the header (4) (first in line 5); "
                          "1 x gpus must be a whole number of 0 or more (first in line 4); "
                          "2 x run_s must be a number of 0 or more (first in line 3)"));
}

TEST_F(ReadTrace, RefusesAFileOfWhichNothingIsLeft) {
  EXPECT_EQ(
      error(std::string(kHeader) + "1,0,-1,1\n", {.lenient = true}),
      "t.csv: no job is left: all 1 rows were dropped (dropped 1 of 1 rows: 1 x run_s must be "
      "a number of 0 or more (first in line 2))");
}

TEST_F(ReadTrace, ReadsTheJobsOfARun) {
  const auto trace = read(
      "job_id,name,user,vc,gpus,submit_s,start_s,end_s,wait_s,run_s,jct_s,preemptions,state,nodes\n"
      "1,n,u,v,8,0,5,15,5,10,15,0,COMPLETED,0:8\n");
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->format, "almanac-run");
  EXPECT_EQ(trace->jobs[0].outcome.start, Time(5s));
  EXPECT_EQ(trace->jobs[0].request.nodes, 0);
}

}  // namespace
}  // namespace almanac::trace
