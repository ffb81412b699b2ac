// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac study` as a user calls it.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace almanac {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTrace =
    "job_id,submit_s,run_s,gpus,user,vc,state,start_s\n"
    "1,1588291200,60,1,ann,a,COMPLETED,1588291260\n"
    "2,1588294800,600,8,bob,a,FAILED,1588294800\n"
    "3,1588298400,30,0,ann,a,COMPLETED,1588298400\n";

class StudyCommand : public testing::Test {
 protected:
  std::string trace(std::string_view content = kTrace) { return folder_.write("t.csv", content); }
  std::string out() { return folder_ / "out"; }
  TemporaryFolder folder_;
};

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(StudyCommand, TellsFindingsAndWhatIsMissing) {
  std::string log = "job_id,submit_s,run_s,gpus,state\n";
  for (int job = 0; job < 40; ++job) {
    log +=
        std::to_string(job) + ",1588291200,600,1," + (job % 2 == 0 ? "COMPLETED" : "FAILED") + "\n";
  }
  const ProgramRun run = run_program({"study", trace(log)});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("t: 40 jobs, 2020-05-01 to 2020-05-01"));
  EXPECT_THAT(run.out, HasSubstr("50 % of the GPU jobs fail, half of these within 10m 00s."));
  EXPECT_THAT(run.out, HasSubstr("philly_fig9a"));
  EXPECT_THAT(run.out, Not(HasSubstr("nan")));
}

TEST_F(StudyCommand, SaysNothingOfAHandfulOfJobs) {
  const ProgramRun run = run_program({"study", trace()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Too few jobs ran (3) to say in words how the cluster is used."));
  EXPECT_THAT(run.out, Not(HasSubstr("of the GPU jobs fail")));
}

TEST_F(StudyCommand, LeavesEveryFigureAsCsvAndJson) {
  const ProgramRun run = run_program({"study", trace(), "--out", out()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(content(out() + "/helios_fig1a.csv"),
              testing::StartsWith("duration_s,count,fraction\n1,0,0\n"));
  const auto contents = nlohmann::json::parse(content(out() + "/study.json"));
  std::size_t figures = 0;
  for (const auto& section : contents.at("sections")) {
    for (const auto& figure : section.at("figures")) {
      ++figures;
      const std::string id = figure.at("id");
      EXPECT_TRUE(fs::exists(out() + "/" + id + ".csv")) << id;
      const auto json = nlohmann::json::parse(content(out() + "/" + id + ".json"));
      for (const auto& column : json.at("columns")) {
        EXPECT_EQ(json.at("data").at(std::string(column.at("name"))).size(), figure.at("rows"))
            << id;
      }
    }
  }
  EXPECT_GE(figures, 15U);
}

// No job failed: bars of no height would be a blank chart.
TEST_F(StudyCommand, DrawsNoBlankChart) {
  const std::string log =
      "job_id,user,submit_s,start_s,run_s,gpus,state\n1,ann,0,0,9,1,COMPLETED\n"
      "2,bob,1,3,9,2,COMPLETED\n";
  ASSERT_EQ(run_program({"study", trace(log), "--cluster", "1x8", "--out", out()}).status, 0);
  const auto json = nlohmann::json::parse(content(out() + "/philly_fig9b.json"));
  EXPECT_TRUE(json.at("charts").empty());
  EXPECT_THAT(json.at("caption").get<std::string>(), HasSubstr("None failed."));
}

TEST_F(StudyCommand, ReplacesItsOwnReportAndNothingElse) {
  ASSERT_EQ(run_program({"study", trace(), "--out", out()}).status, 0);
  std::ofstream(out() + "/notes.txt") << "mine";
  ASSERT_TRUE(fs::exists(out() + "/helios_fig2a.csv"));
  const std::string undated = folder_.write("u.csv", "job_id,submit_s,run_s,gpus\n1,0,60,1\n");
  const ProgramRun run = run_program({"study", undated, "--out", out()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_FALSE(fs::exists(out() + "/helios_fig2a.csv")) << "left from the first report";
  EXPECT_EQ(content(out() + "/notes.txt"), "mine");
}

TEST_F(StudyCommand, RefusesAFolderOfOthers) {
  const ProgramRun run = run_program({"study", trace(), "--out", folder_ / ""});
  EXPECT_EQ(run.status, 69);
  EXPECT_THAT(run.err, HasSubstr("not empty and holds no earlier report"));
}

TEST_F(StudyCommand, SelectsByTheTimeOfSubmission) {
  const ProgramRun run =
      run_program({"study", trace(), "--from", "2020-05-01 00:30:00", "-o", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto contents = nlohmann::json::parse(run.out);
  EXPECT_EQ(contents.at("provenance").at("jobs"), 2);
  EXPECT_EQ(contents.at("provenance").at("filter"), "submitted from 2020-05-01 00:30:00");
}

TEST_F(StudyCommand, SaysThatASelectionIsEmpty) {
  const ProgramRun run = run_program({"study", trace(), "--from", "2021-01-01"});
  EXPECT_EQ(run.status, 65);
  EXPECT_THAT(run.err, HasSubstr("no job is left"));
  EXPECT_EQ(run.out, "");
}

TEST_F(StudyCommand, AsksForATrace) {
  const ProgramRun run = run_program({"study"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("no job log is given"));
}

TEST_F(StudyCommand, NamesTheLineOfABadUtilisationFile) {
  const std::string bad =
      folder_.write("cpu.csv", "time,machine_id,cpu_util\n2017-10-03 10:00:00,m1,much\n");
  const ProgramRun run = run_program({"study", trace(), "--cpu-util", bad, "--out", out()});
  EXPECT_EQ(run.status, 65);
  EXPECT_THAT(run.err, HasSubstr("cpu.csv:2: expected a number or NA: \"much\""));
  EXPECT_FALSE(fs::exists(out())) << "nothing half-written";
}

TEST_F(StudyCommand, WantsAttemptsForGpuUtilisation) {
  const ProgramRun run = run_program({"study", trace(), "--gpu-util", trace()});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("needs a job log with the machines of each attempt"));
}

TEST_F(StudyCommand, SaysWhyJobsFailedWhereTheirLogsAreGiven) {
  fs::create_directory(folder_ / "logs");
  std::ofstream(folder_ / "logs/slurm-2.out")
      << "epoch 1\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
  const ProgramRun run =
      run_program({"study", trace(), "--logs", folder_ / "logs", "--out", out()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(content(out() + "/philly_table7.csv"), HasSubstr("GPU out of memory"));
  const ProgramRun without = run_program({"study", trace()});
  EXPECT_THAT(without.out, HasSubstr("the logs that failed jobs left: --logs DIR"));
}

/// Two weeks of ten jobs a day; in the second log every job has twice the GPUs.
std::string weeks(int gpus) {
  std::string log = "job_id,submit_s,run_s,gpus\n";
  for (int job = 0; job < 140; ++job) {
    log += std::to_string(job) + "," + std::to_string(1588291200 + job * 8640) + "," +
           std::to_string(60 + job % 7) + "," + std::to_string(gpus) + "\n";
  }
  return log;
}

TEST_F(StudyCommand, TellsChangeFromChance) {
  const std::string a = folder_.write("a.csv", weeks(2));
  const std::string b = folder_.write("b.csv", weeks(4));
  const ProgramRun run = run_program({"compare-traces", a, b, "--out", out()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(
      run.out,
      HasSubstr("Mean GPUs per job: 2.0 in a, 4.0 in b.\n  2.00 times (95 % CI 2.00 times to 2.00 "
                "times)."));
  EXPECT_THAT(run.out,
              HasSubstr("Within chance: GPU jobs per day; Mean duration; Median duration;"));
  const std::string ratios = content(out() + "/changes.csv");
  EXPECT_THAT(ratios, HasSubstr("Mean GPUs per job,mean_gpus,gpus,2,4,2,2,2,more\n"));
  EXPECT_THAT(ratios, Not(HasSubstr("one_gpu_fraction"))) << "a share changes by a difference";
  const std::string shares = content(out() + "/changed_shares.csv");
  EXPECT_THAT(shares, HasSubstr("one_gpu_fraction,fraction,"));
  EXPECT_THAT(shares, Not(HasSubstr("mean_gpus")));
}

TEST_F(StudyCommand, ShowsAChangedShareAmongTheShares) {
  const std::string a = folder_.write("a.csv", weeks(1));
  const std::string b = folder_.write("b.csv", weeks(4));
  const ProgramRun run = run_program({"compare-traces", a, b, "--out", out()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Single-GPU jobs: 100 % in a, 0 % in b.\n  -100.0 points"));
  EXPECT_THAT(content(out() + "/traces.json"), HasSubstr("\"figure\": \"changed_shares\""));
}

TEST_F(StudyCommand, PutsUnitsBesideTheNumbersOfTheLog) {
  const ProgramRun run = run_program({"study", trace(), "--out", out()});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string summary = content(out() + "/helios_table_summary.csv");
  EXPECT_THAT(summary, HasSubstr("Mean run time of GPU jobs,avg_run_time_gpu,s,"));
  EXPECT_THAT(summary, HasSubstr("Failed GPU jobs,fail_rate_gpu,fraction,"));
}

TEST_F(StudyCommand, CannotTellChangeFromFewDays) {
  const ProgramRun run = run_program({"compare-traces", trace(), trace(), "--out", out()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(content(out() + "/changes.csv"), Not(HasSubstr("within chance")));
  EXPECT_THAT(content(out() + "/changes.csv"), HasSubstr("too little data"));
}

/// Six jobs of ann's that use 2 of 16 cores, 4 of 64 GB and, of one GPU, a tenth.
std::string week_of_sacct() {
  std::string text =
      "JobID|JobName|User|State|Submit|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocTRES|TotalCPU|"
      "MaxRSS|NTasks|TRESUsageInAve\n";
  for (int job = 1; job <= 6; ++job) {
    const std::string id = std::to_string(job);
    text += id +
            "|train|ann|COMPLETED|2024-05-01T10:00:00|7200|1440|16|cpu=16,gres/gpu=1,mem=64G|" +
            "04:00:00|||\n" + id +
            ".0|train||COMPLETED|2024-05-01T10:00:00|7200||16|cpu=16|04:00:00|4G|1|" +
            "gres/gpuutil=10\n";
  }
  return text;
}

class EfficiencyCommand : public StudyCommand {};

TEST_F(EfficiencyCommand, SaysWhatJobsCouldAskAndWhatThatIsWorth) {
  const std::string week = trace(week_of_sacct());
  const ProgramRun sizes = run_program({"efficiency", week, "--sizes", "--core-hour", "0.05"});
  EXPECT_EQ(sizes.status, 0) << sizes.err;
  EXPECT_THAT(sizes.out, HasSubstr("16 -> 3"));
  EXPECT_THAT(sizes.out, HasSubstr("64 -> 5"));
  EXPECT_THAT(sizes.out, HasSubstr("1-00:00:00 -> 02:30:00"));
  EXPECT_THAT(sizes.out, HasSubstr("156.0")) << "13 cores of six jobs of two hours";
  EXPECT_THAT(sizes.out, HasSubstr("7.80"));
  const ProgramRun job = run_program({"efficiency", week, "3"});
  EXPECT_THAT(job.out, HasSubstr("3 of 16 cores, 5 of 64 GB, a limit of 02:30:00 for 1-00:00:00, "
                                 "by 6 jobs of that name"));
  const ProgramRun users = run_program({"efficiency", week, "--gpu-hour", "2"});
  EXPECT_THAT(users.out, HasSubstr("cost of idle"));
  EXPECT_THAT(users.out, HasSubstr("21.60")) << "nine tenths of twelve hours";
}

TEST_F(EfficiencyCommand, LeavesAReport) {
  const ProgramRun run = run_program({"efficiency", trace(week_of_sacct()), "--out", out()});
  EXPECT_EQ(run.status, 0) << run.err;
  const std::string contents = content(out() + "/study.json");
  EXPECT_THAT(contents, HasSubstr("90 % of the allocated GPU-hours were idle."));
  EXPECT_THAT(contents, HasSubstr("1 group of jobs could request less."));
  EXPECT_THAT(content(out() + "/right_sizes.csv"), HasSubstr("ann,train,6,16,3,64,5,86400,9000"));
}

TEST_F(EfficiencyCommand, TellsEachUserByACommand) {
  const std::string told = folder_ / "told";
  const ProgramRun run = run_program({"efficiency", trace(week_of_sacct()), "--tell",
                                      "(echo to $ALMANAC_USER; cat) >> '" + told + "'"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "informed 1 user\n");
  EXPECT_THAT(content(told), HasSubstr("to ann\nHello ann,\n"));
  EXPECT_THAT(content(told), HasSubstr("\nann: 6 jobs, 12.0 GPU-hours, 192.0 core-hours\n"));
  EXPECT_THAT(
      content(told),
      HasSubstr("The GPUs were idle 90 % of that time at their last samples, which are no mean."));
  EXPECT_THAT(content(told),
              HasSubstr("Jobs called train with 1 GPU could request less: 3 of 16 cores"));
  const ProgramRun fails = run_program({"efficiency", trace(week_of_sacct()), "--tell", "exit 3"});
  EXPECT_EQ(fails.status, 1);
  EXPECT_THAT(fails.err, HasSubstr("user ann: the command ended with status 3"));
}

/// Three jobs of bob's, each of ten hours with four GPUs that never computed, and 96 cores.
std::string idle_week() {
  std::string text =
      "JobID|JobName|User|State|Submit|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocTRES|TotalCPU|"
      "MaxRSS|NTasks|TRESUsageInAve|TRESUsageInMax\n";
  for (int job = 11; job <= 13; ++job) {
    const std::string id = std::to_string(job);
    text += id +
            "|note|bob|COMPLETED|2024-05-01T10:00:00|36000|1440|96|cpu=96,gres/gpu=4,mem=64G|" +
            "04:00:00||||\n" + id +
            ".0|note||COMPLETED|2024-05-01T10:00:00|36000||96|cpu=96|04:00:00|60G|1|" +
            "gres/gpuutil=0|gres/gpuutil=0\n";
  }
  return text;
}

TEST_F(EfficiencyCommand, AddsUpGpuHoursAtZeroFromSacct) {
  const ProgramRun users = run_program({"efficiency", trace(idle_week())});
  EXPECT_EQ(users.status, 0) << users.err;
  EXPECT_THAT(users.out,
              HasSubstr("GPU-hours at 0 % use: 120.0 of 120.0 measured (100 %), in 3 jobs.\n"));
  const ProgramRun rows = run_program(
      {"efficiency", trace(idle_week()), "--fields", "user,gpu_hours_at_zero", "-o", "csv"});
  EXPECT_EQ(rows.out, "user,gpu_hours_at_zero\nbob,120\n");
}

TEST_F(EfficiencyCommand, ListsAlertsByNormsOfTheSite) {
  const std::string week = trace(idle_week());
  const ProgramRun run = run_program({"efficiency", week, "--alerts"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("unused-gpus  bob"));
  EXPECT_THAT(run.out, HasSubstr("many-cores   bob"));
  const std::string norms = folder_.write("norms.toml", "cores_per_gpu = 24\n");
  const ProgramRun other = run_program({"efficiency", week, "--alerts", "--norms", norms});
  EXPECT_THAT(other.out, Not(HasSubstr("many-cores"))) << "24 cores per GPU are fine there";
  const std::string patient = folder_.write("patient.toml", "gpu_hours = 1000\n");
  const ProgramRun none = run_program({"efficiency", week, "--alerts", "--norms", patient});
  EXPECT_THAT(none.out, HasSubstr("No user's jobs break a norm for 1000 GPU-hours or more"));
}

TEST_F(EfficiencyCommand, ListsJobsByWhatTheyWasted) {
  const ProgramRun run =
      run_program({"efficiency",
                   trace(idle_week() + "9|good|ann|COMPLETED|2024-05-01T10:00:00|3600|1440|1|"
                                       "cpu=1|01:00:00||||\n"),
                   "--jobs", "--fields", "job_id,gpu_hours_unused", "-o", "csv"});
  EXPECT_EQ(run.out, "job_id,gpu_hours_unused\n11,40\n12,40\n13,40\n9,0\n");
}

TEST_F(EfficiencyCommand, WritesALetterToEachUser) {
  const std::string week = trace(idle_week());
  const ProgramRun run = run_program({"efficiency", week, "--mail", out()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "wrote 1 letter to " + out() + "\n");
  EXPECT_THAT(content(out() + "/bob.txt"),
              HasSubstr("3 jobs with GPUs at 0 % use (120.0 GPU-hours):\n"));
  const std::string own = folder_.write("letter.txt", "Dear {user}: {idle_gpu_hours}\n");
  run_program({"efficiency", week, "--mail", out(), "--letter", own});
  EXPECT_EQ(content(out() + "/bob.txt"), "Dear bob: 120.0\n");
}

TEST_F(EfficiencyCommand, WritesLettersToAllWhoseNameIsThatOfAFile) {
  const std::string week =
      week_of_sacct() +
      "99|x||COMPLETED|2024-05-01T10:00:00|7200|1440|16|cpu=16,mem=64G|04:00:00|||\n";
  const ProgramRun run = run_program({"efficiency", trace(week), "--mail", out()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "wrote 1 letter to " + out() + "\n");
  EXPECT_THAT(run.err, HasSubstr("no letter for user \"\": the name cannot be that of a file"));
  EXPECT_TRUE(std::filesystem::exists(out() + "/ann.txt"));
}

TEST_F(EfficiencyCommand, RefusesNormsThatNothingReads) {
  const ProgramRun run =
      run_program({"efficiency", trace(week_of_sacct()), "--norms", "site.toml"});
  EXPECT_EQ(run.status, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("--norms requires --alerts, --mail or --tell"));
}

TEST_F(EfficiencyCommand, ColoursNothingOutsideATerminal) {
  EXPECT_THAT(
      run_program({"efficiency", trace(idle_week()), "11"}).out,
      testing::AllOf(HasSubstr("GPUs     [                    ] 4 held"), Not(HasSubstr("\x1b"))));
}

TEST_F(EfficiencyCommand, SaysWhichJobTheLogDoesNotHave) {
  const std::string week = trace(
      week_of_sacct() + "7|never|bob|CANCELLED by 7|2024-05-01T10:00:00|0|60|0||00:00:00|||\n");
  const ProgramRun absent = run_program({"efficiency", week, "11"});
  EXPECT_EQ(absent.status, 2);
  EXPECT_THAT(absent.err, HasSubstr("unknown job 11; the 6 jobs that ran are 1 to 6"));
  const ProgramRun never = run_program({"efficiency", week, "7"});
  EXPECT_EQ(never.status, 2);
  EXPECT_THAT(never.err, HasSubstr("job 7 never ran"));
}

TEST_F(EfficiencyCommand, MarksMoreCoresThanWereHeld) {
  const std::string week =
      trace(week_of_sacct() +
            "8_1|odd|dia|COMPLETED|2024-05-01T10:00:00|1594|30|2|cpu=2,mem=16000M|1-16:59:47|||\n");
  EXPECT_THAT(run_program({"efficiency", week, "8"}).out,
              HasSubstr("92.6 used of 2 on average (4629 %: more than the job held"));
  EXPECT_THAT(run_program({"efficiency", week}).out,
              HasSubstr("1 job with more processor time than the cores held can give"));
}

TEST_F(EfficiencyCommand, LeavesOutRowsThatCannotBeReadIfLenient) {
  const std::string week = trace(week_of_sacct() + "9|cut o\n");
  const ProgramRun strict = run_program({"efficiency", week});
  EXPECT_EQ(strict.status, 65);
  EXPECT_THAT(strict.err, HasSubstr("use --lenient to drop such rows"));
  const ProgramRun lenient = run_program({"efficiency", week, "--lenient"});
  EXPECT_EQ(lenient.status, 0) << lenient.err;
  EXPECT_THAT(lenient.err, HasSubstr("dropped 1 of 13 rows, the first in line 14"));
}

TEST_F(EfficiencyCommand, KnowsALogFromAJob) {
  const ProgramRun run = run_program({"efficiency", "wek.txt"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("\"wek.txt\" is neither a file nor a job id"));
}

}  // namespace
}  // namespace almanac
