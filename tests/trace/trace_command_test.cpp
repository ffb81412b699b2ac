// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"
#include "table/stream.h"

namespace almanac {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTrace =
    "job_id,submit_s,run_s,gpus,user,vc,state\n"
    "1,0,60,1,ann,a,COMPLETED\n2,10,120,8,bob,b,FAILED\n3,20,30,0,ann,a,COMPLETED\n";

class TraceCommand : public testing::Test {
 protected:
  std::string trace(std::string_view content = kTrace) { return folder_.write("t.csv", content); }
  TemporaryFolder folder_;
};

TEST_F(TraceCommand, InfoSaysWhatTheLogHolds) {
  const ProgramRun run = run_program({"trace", "info", trace()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("jobs           3: 2 on GPUs, 1 CPU-only"));
  EXPECT_THAT(run.out, HasSubstr("states         COMPLETED 2 (66.7 %), FAILED 1 (33.3 %)"));
  EXPECT_EQ(run.err, "");
}

TEST_F(TraceCommand, InfoPrintsJson) {
  const ProgramRun run = run_program({"trace", "info", "-o", "json", trace()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"gpu_time_gpu_s\": 1020.0"));
  EXPECT_THAT(run.out, HasSubstr("\"users\": 2"));
}

TEST_F(TraceCommand, ValidateAcceptsWhatIsGood) {
  const ProgramRun run = run_program({"trace", "validate", trace()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("valid (almanac), 3 jobs of 3 rows, 0 dropped"));
}

TEST_F(TraceCommand, BadDataIsOneLineAndStatus65) {
  const std::string path = trace("job_id,submit_s,run_s,gpus\n1,0,-5,1\n");
  for (const char* command : {"info", "validate", "convert", "sample"}) {
    const ProgramRun run = run_program({"trace", command, path});
    EXPECT_EQ(run.status, 65);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err,
              "almanac: " + path +
                  ":2: run_s must be a number of 0 or more, found \"-5\" (use --lenient to drop "
                  "such rows)\n");
  }
}

TEST_F(TraceCommand, InfoSaysInWhichZoneTimesWereRead) {
  const std::string path = trace(
      "JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES\n"
      "1|2025-07-01T12:00:00|2025-07-01T12:00:05|2025-07-01T13:00:05|3600|COMPLETED|gres/gpu=1\n");
  EXPECT_THAT(run_program({"trace", "info", path}).out,
              HasSubstr("time zone      not in the log, read as UTC"));
  const ProgramRun run = run_program({"trace", "info", path, "--time-zone", "Europe/Berlin"});
  EXPECT_THAT(run.out, HasSubstr("submitted      2025-07-01 10:00:00"));
  EXPECT_THAT(run.out, HasSubstr("time zone      Europe/Berlin"));
  const ProgramRun none = run_program({"trace", "info", path, "--time-zone", "Atlantis"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no time zone \"Atlantis\""));
}

TEST_F(TraceCommand, LenientSaysWhatItDropped) {
  const std::string path = trace("job_id,submit_s,run_s,gpus\n1,0,-5,1\n2,0,5,1\n");
  const ProgramRun run = run_program({"trace", "validate", "--lenient", path});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("1 job of 2 rows, 1 dropped"));
  EXPECT_EQ(run.err, "almanac: note: " + path +
                         ": dropped 1 of 2 rows: 1 x run_s must be a number of 0 or more (first in "
                         "line 2)\n");
}

TEST_F(TraceCommand, AFileThatIsNotThereIsStatus66) {
  const ProgramRun run = run_program({"trace", "info", folder_ / "absent"});
  EXPECT_EQ(run.status, 66);
  EXPECT_EQ(run.err, "almanac: " + folder_ / "absent" +
                         ": cannot open the file: No such file or directory\n");
}

TEST_F(TraceCommand, AWrongFlagIsStatus2) {
  EXPECT_EQ(run_program({"trace", "info", "--format", "helio", trace()}).status, 2);
  EXPECT_EQ(run_program({"trace", "info", "--nonsense", trace()}).status, 2);
  EXPECT_EQ(run_program({"trace", "info"}).status, 2);
  EXPECT_EQ(run_program({"trace", "sample", "--from", "soon", trace()}).status, 2);
}

TEST_F(TraceCommand, ConvertWritesAFileOrTheStandardOutput) {
  const ProgramRun shown = run_program({"trace", "convert", trace()});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, StartsWith("job_id,submit_s,run_s,gpus,user,vc,state\n1,0,60,1,ann,a,"));
  const ProgramRun saved = run_program({"trace", "convert", trace(), folder_ / "out.csv.gz"});
  EXPECT_EQ(saved.status, 0) << saved.err;
  EXPECT_EQ(table::read_file(folder_ / "out.csv.gz").value(), shown.out);
  const ProgramRun swf = run_program({"trace", "convert", trace(), "--to", "swf"});
  EXPECT_THAT(swf.out, StartsWith("; Version: 2.2\n"));
}

TEST_F(TraceCommand, NothingHalfWrittenIsLeftBehind) {
  const std::string path = trace("job_id,submit_s,run_s,gpus\n1,0,5,1\n1,0,5,1\n");
  folder_.write("out.csv", "former");
  EXPECT_EQ(run_program({"trace", "convert", path, folder_ / "out.csv"}).status, 65);
  EXPECT_EQ(table::read_file(folder_ / "out.csv").value(), "former");
  EXPECT_EQ(run_program({"trace", "convert", path, folder_ / "no/out.csv"}).status, 65);
  EXPECT_EQ(folder_.size(), 2U);
}

TEST_F(TraceCommand, AFolderThatCannotBeMadeIsSaid) {
  folder_.write("file", "x");
  const ProgramRun run = run_program({"trace", "convert", trace(), folder_ / "file/out.csv"});
  EXPECT_EQ(run.status, 74);
  EXPECT_THAT(run.err, HasSubstr("cannot create its folder"));
}

TEST_F(TraceCommand, SampleKeepsAPart) {
  const ProgramRun run =
      run_program({"trace", "sample", trace(), "--vc", "a", "--from", "1970-01-01 00:00:05"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "job_id,submit_s,run_s,gpus,user,vc,state\n3,20,30,0,ann,a,COMPLETED\n");
  EXPECT_THAT(run.err, HasSubstr("kept 1 of 3 jobs"));
}

TEST_F(TraceCommand, SampleDrawsTheSameForTheSameSeed) {
  const std::vector<std::string> drawn{"trace", "sample", trace(), "--count", "2", "--seed", "5"};
  const ProgramRun run = run_program(drawn);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 3);
  EXPECT_EQ(run_program(drawn).out, run.out);
}

TEST_F(TraceCommand, ColumnsReadsAnyTable) {
  const std::string table = folder_.write("any.csv", "when;minutes;cards\n0;2;4\n");
  const std::string map = folder_.write("map.toml",
                                        "delimiter = \";\"\n[columns]\nsubmit_s = \"when\"\n"
                                        "run_s = {column = \"minutes\", unit = \"min\"}\n"
                                        "gpus = \"cards\"\n");
  const ProgramRun run = run_program({"trace", "convert", table, "--columns", map});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "job_id,submit_s,run_s,gpus\n1,0,120,4\n");
}

TEST_F(TraceCommand, InfoNamesTheColumnThatWouldSayWhenJobsBecameEligible) {
  const auto said = [&](const std::string& log, std::vector<std::string> options = {}) {
    std::vector<std::string> words{"trace", "info", log};
    words.insert(words.end(), options.begin(), options.end());
    const ProgramRun run = run_program(words);
    const std::size_t at = run.out.find("the log does not record eligible times");
    EXPECT_NE(at, std::string::npos) << run.out << run.err;
    return run.out.substr(at, run.out.find(", so waits") - at);
  };
  EXPECT_EQ(said(folder_.write("s.txt",
                               "JobID|Submit|Start|ElapsedRaw|AllocTRES\n1|2026-01-05T08:00:00|"
                               "2026-01-05T08:00:05|60|gres/gpu=1\n")),
            "the log does not record eligible times (it has no column Eligible)");
  EXPECT_EQ(said(trace("job_id,submit_s,start_s,run_s,gpus\n1,0,5,60,1\n")),
            "the log does not record eligible times (it has no column eligible_s)");
  EXPECT_EQ(
      said(folder_.write("t.swf", "; MaxProcs: 8\n1 0 0 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n")),
      "the log does not record eligible times");
  const std::string map = folder_.write(
      "map.toml", "[columns]\nsubmit_s = \"a\"\nstart_s = \"b\"\nrun_s = \"c\"\ngpus = \"d\"\n");
  EXPECT_EQ(said(folder_.write("any.csv", "a,b,c,d\n0,5,60,1\n"), {"--columns", map}),
            "the log does not record eligible times (its column map has no eligible_s)");
}

TEST_F(TraceCommand, AClusterFileIsNamed) {
  const ProgramRun run = run_program({"trace", "info", trace("date,vcA,total\n2020-04-01,8,8\n")});
  EXPECT_EQ(run.status, 65);
  EXPECT_THAT(run.err, HasSubstr("this is the Helios per-day VC table"));
}

TEST_F(TraceCommand, GenerateOffersTheLoadThatIsAsked) {
  const auto said = [](std::vector<std::string> options) {
    std::vector<std::string> arguments{"trace", "generate", "--preset",
                                       "coda",  "--out",    "/dev/null"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.err;
  };
  EXPECT_EQ(
      said({"--gpu-load", "0.25", "--cpu-load", "0.1"}),
      "almanac: note: 1,040 jobs in 1.5 days for 100 GPUs in 1 virtual cluster: load 0.25, CPU "
      "load 0.10\n");
  // Twice the load with as many jobs: half the time.
  EXPECT_EQ(
      said({"--gpu-load", "1", "--jobs", "520"}),
      "almanac: note: 2,080 jobs in 0.7 days for 100 GPUs in 1 virtual cluster: load 1.00, CPU "
      "load 0.20\n");
}

TEST_F(TraceCommand, GenerateRefusesWhatDoesNotGoTogether) {
  const ProgramRun three =
      run_program({"trace", "generate", "--jobs", "10", "--days", "1", "--gpu-load", "0.5"});
  EXPECT_EQ(three.status, 2);
  EXPECT_EQ(three.err, "almanac: use two of --jobs, --days and --gpu-load; the third follows\n");
  const ProgramRun no_cpu_jobs = run_program({"trace", "generate", "--cpu-load", "0.5"});
  EXPECT_EQ(no_cpu_jobs.status, 2);
  EXPECT_EQ(no_cpu_jobs.err, "almanac: cpu.per_gpu_job and cpu.load must both be 0, or neither\n");
}

TEST_F(TraceCommand, InfoTellsCpuJobs) {
  const ProgramRun run = run_program(
      {"trace", "info",
       trace("job_id,submit_s,run_s,gpus,cpus,memory_gb\n1,0,3600,2,12,\n2,9,1800,0,4,16\n")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("core time      12.0 core-hours\n"));
  EXPECT_THAT(run.out, HasSubstr("CPU jobs       1\ncore time      2.0 core-hours\n"));
  EXPECT_THAT(run.out, HasSubstr("GB a job       mean 16.000, median 16, p99 16, most 16\n"));
}

}  // namespace
}  // namespace almanac
