// SPDX-License-Identifier: Apache-2.0
#include "study/efficiency.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/read_job_use.h"
#include "support/temporary_folder.h"

namespace almanac::study {
namespace {

using testing::HasSubstr;

/// Job 1 computes with 2 of 8 cores and, of four GPUs, as much as 1.2; 2 tells nothing but its
/// time; 3 never ran; 4 ran for 30 s.
constexpr const char* kWeek =
    "JobID|JobName|User|State|Submit|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocTRES|TotalCPU|MaxRSS|"
    "NTasks|TRESUsageInAve\n"
    "1|a|b|ann|COMPLETED|2024-05-01T10:00:00|3600|120|8|cpu=8,gres/gpu=4,mem=64G,node=1|02:00:00|||"
    "\n"
    "1.batch|batch||COMPLETED|2024-05-01T10:00:00|3600||8|cpu=8|00:01.500|1048576K|1|cpu=00:00:01\n"
    "1.0|train||COMPLETED|2024-05-01T10:00:00|3600||8|cpu=8|01:59:58|8G|2|cpu=1,gres/gpuutil=60\n"
    "2|x|bob|CANCELLED by 7|2024-05-02T10:00:00|7200|UNLIMITED|4|cpu=4,mem=8G|1-00:00:00|||\n"
    "3|x|bob|CANCELLED|2024-05-02T10:00:00|0|60|0||00:00:00|||\n"
    "4|x|ann|FAILED|2024-05-02T11:00:00|30|60|8|cpu=8,mem=8G|00:00:30|||\n";

TEST(Efficiency, ReadsWhatJobsUsed) {
  const TemporaryFolder folder;
  const auto log = read_job_use(folder.write("week", kWeek));
  ASSERT_TRUE(log) << to_string(log.error());
  const std::vector<JobUse>* const jobs = &log->jobs;
  EXPECT_THAT(log->never_ran, testing::ElementsAre("3"));
  ASSERT_EQ(jobs->size(), 3U) << "a job that never ran used nothing";
  const JobUse& one = jobs->at(0);
  EXPECT_EQ(one.name, "a|b");
  EXPECT_EQ(one.user, "ann");
  EXPECT_DOUBLE_EQ(one.core_share(), 0.25);
  EXPECT_DOUBLE_EQ(one.memory_used_gb, 16) << "8 GB of each of two tasks";
  EXPECT_DOUBLE_EQ(one.memory_share(), 0.25);
  EXPECT_DOUBLE_EQ(one.time_share(), 0.5);
  EXPECT_DOUBLE_EQ(one.gpu_use, 0.3) << "60 % of a GPU by each of two tasks, of four";
  const JobUse& two = jobs->at(1);
  EXPECT_EQ(two.state, "CANCELLED");
  EXPECT_DOUBLE_EQ(two.cores_used, 12) << "a day of processor time in two hours";
  EXPECT_TRUE(std::isnan(two.memory_share()));
  EXPECT_TRUE(std::isnan(two.gpu_use));
  EXPECT_TRUE(std::isnan(two.time_share()));
}

TEST(Efficiency, SumsUpUsersByWhatTheyDidNotUse) {
  const TemporaryFolder folder;
  const auto users = by_user(read_job_use(folder.write("week", kWeek)).value().jobs);
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[0].user, "ann");
  EXPECT_EQ(users[0].jobs, 1) << "one of 30 s says nothing";
  EXPECT_DOUBLE_EQ(users[0].core_hours, 8);
  EXPECT_DOUBLE_EQ(users[0].core_hours_unused, 6);
  EXPECT_GT(users[0].gb_hours, users[0].gb_hours_unused);
  EXPECT_DOUBLE_EQ(users[0].gb_hours_unused, users[0].gb_hours * (1 - users[0].memory_share));
  EXPECT_EQ(users[1].gb_hours, 0) << "nothing tells what bob's job used of it";
  EXPECT_DOUBLE_EQ(users[0].gpu_hours, 4);
  EXPECT_DOUBLE_EQ(users[0].gpu_hours_unused, 2.8);
  EXPECT_DOUBLE_EQ(users[1].core_hours_unused, 0) << "more than all is all";
  EXPECT_DOUBLE_EQ(users[1].gpu_hours_known, 0);
}

constexpr const char* kUseHeader =
    "JobID|JobName|User|State|Submit|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocTRES|TotalCPU|MaxRSS|"
    "NTasks|TRESUsageInAve\n";

JobUseLog use_of(const std::string& rows, bool lenient = false) {
  const TemporaryFolder folder;
  auto log = read_job_use(folder.write("week", kUseHeader + rows), lenient);
  if (!log) {
    ADD_FAILURE() << to_string(log.error());
    return {};
  }
  return std::move(*log);
}

TEST(Efficiency, TakesSlurmsNoValueAsNotKnown) {
  const auto log = use_of(
      "1|a|ann|COMPLETED|2026-01-05T08:00:00|3600|4294967294|16|cpu=16,gres/gpu=2|02:00:00|||\n"
      "1.batch|batch||COMPLETED|2026-01-05T08:00:00|3600||16|cpu=16|02:00:00|18446744073709551614|"
      "4294967294|cpu=02:00:00,gres/gpuutil=18446744073709551614\n"
      "2|a|ann|COMPLETED|2026-01-05T09:00:00|3600|120|16|cpu=16,gres/gpu=2|02:00:00|||\n"
      "2.batch|batch||COMPLETED|2026-01-05T09:00:00|3600||16|cpu=16|02:00:00|4G|1|gres/gpuutil=20\n"
      "3|a|ann|RUNNING|2026-01-05T09:00:00|3600|120|4294967295|cpu=16|00:00:00|||\n");
  ASSERT_EQ(log.jobs.size(), 3U);
  EXPECT_TRUE(std::isnan(log.jobs[0].gpu_use));
  EXPECT_TRUE(std::isnan(log.jobs[0].memory_used_gb));
  EXPECT_EQ(log.jobs[0].limit, kNoDuration);
  EXPECT_DOUBLE_EQ(log.jobs[1].gpu_use, 0.1);
  EXPECT_DOUBLE_EQ(log.jobs[2].cores, 16) << "of AllocTRES";
  EXPECT_TRUE(std::isnan(log.jobs[2].cores_used)) << "not counted before a step ends";
  const auto users = by_user(log.jobs);
  EXPECT_DOUBLE_EQ(users.at(0).gpu_hours_unused / users.at(0).gpu_hours_known, 0.9);
}

TEST(Efficiency, RefusesRowsThatNoJobCanHave) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& row) {
    const auto log = read_job_use(folder.write("week", kUseHeader + row));
    return log ? std::string() : to_string(log.error());
  };
  EXPECT_THAT(
      error("1|x|ann|COMPLETED|2020-09-01T00:00:00|60|60|6|gres/gpu=99999999999|00:01|||\n"),
      HasSubstr(
          "week:2: AllocTRES must be a list like cpu=8,gres/gpu=8 of at most 1000000 GPUs, found "
          "\"gres/gpu=99999999999\""));
  EXPECT_THAT(
      error("1|x|ann|COMPLETED|yesterday|60|60|6|gres/gpu=1|00:01|||\n"),
      HasSubstr("week:2: Submit must be a time as YYYY-MM-DDThh:mm:ss, found \"yesterday\""));
  EXPECT_THAT(
      error("1|x|ann|COMPLETED|2020-09-01T00:00:00|99999999999999999999|60|6|cpu=6|00:01|||\n"),
      HasSubstr("week:2: ElapsedRaw must be seconds from 0 to 1000000000000, found "
                "\"99999999999999999999\""));
  EXPECT_THAT(error("1|x|ann|COMPLETED|2020-09-01T00:00:00|60|60|999999999999|cpu=6|00:01|||\n"),
              HasSubstr("week:2: AllocCPUS must be 1000000000 or less, found \"999999999999\""));
  EXPECT_EQ(use_of("1|x|ann|COMPLETED|yesterday|60|60|6|cpu=6|00:01|||\n"
                   "2|x|ann|COMPLETED|Unknown|60|60|6|cpu=6|00:01|||\n",
                   true)
                .jobs.size(),
            1U)
      << "--lenient leaves the first out";
}

TEST(Efficiency, ReadsNamesOfAnyLines) {
  const auto log = use_of(
      "1|two\nlines | bars|ann|COMPLETED|2026-01-05T08:00:00|3600|120|1|cpu=1|01:00:00|||\n"
      "1.0|x||COMPLETED|2026-01-05T08:00:00|3600||1|cpu=1|01:00:00|1G|1|\n"
      "2|a|bob|COMPLETED|2026-01-05T08:00:00|3600|120|1|cpu=1|01:00:00|||\n");
  ASSERT_EQ(log.jobs.size(), 2U);
  EXPECT_EQ(log.jobs[0].name, "two lines | bars");
  EXPECT_EQ(log.jobs[0].user, "ann");
}

TEST(Efficiency, LosesNoRowToOneThatCannotBeRead) {
  const std::string rows =
      "1|a|ann|COMPLETED|2026-01-05T08:00:00|36\n"
      "2|a|ann|COMPLETED|2026-01-05T08:00:00|long|120|1|cpu=1|01:00:00|||\n"
      "3|a|bob|COMPLETED|2026-01-05T08:00:00|3600|120|1|cpu=1|01:00:00|||\n"
      "3.0|x||COMPLETED|2026-01-05T08:00:00|3600||1|cpu=1|01:00:00|1G|1|\n";
  const TemporaryFolder folder;
  const auto strict = read_job_use(folder.write("week", kUseHeader + rows));
  ASSERT_FALSE(strict);
  EXPECT_THAT(to_string(strict.error()), HasSubstr(":2: a row must have as many fields as the "
                                                   "header (13), found 6 (use --lenient"));
  const auto log = use_of(rows, true);
  ASSERT_EQ(log.jobs.size(), 1U);
  EXPECT_THAT(log.notes, testing::ElementsAre(
                             "dropped 2 of 4 rows, the first in line 2: a row must have as many "
                             "fields as the header (13), found 6"));
}

TEST(Efficiency, AddsUpTheRunsOfAJob) {
  const std::string first =
      "5|a|ann|REQUEUED|2026-01-05T08:00:00|3600|120|2|cpu=2,gres/gpu=2|02:00:00|||\n"
      "5.0|x||FAILED|2026-01-05T08:00:00|3600||2|cpu=2|02:00:00|3G|1|gres/gpuutil=200\n";
  const std::string last =
      "5|a|ann|COMPLETED|2026-01-05T09:10:00|10800|120|2|cpu=2,gres/gpu=2|03:00:00|||\n"
      "5.0|x||COMPLETED|2026-01-05T09:10:00|10800||2|cpu=2|03:00:00|1G|1|gres/gpuutil=100\n";
  const std::string other = "5|a|ann|COMPLETED|2026-06-05T09:10:00|60|120|2|cpu=2|00:01:00|||\n";
  const auto log = use_of(first + last + last + other);
  ASSERT_EQ(log.jobs.size(), 2U);
  const JobUse& job = log.jobs[0];
  EXPECT_EQ(job.elapsed, 4h);
  EXPECT_DOUBLE_EQ(job.time_share(), 1.5) << "the longer run of 3 h, of a limit of 2 h";
  EXPECT_EQ(job.state, "COMPLETED");
  EXPECT_DOUBLE_EQ(job.cores_used, 1.25) << "five core-hours in four hours";
  EXPECT_DOUBLE_EQ(job.gpus, 2);
  EXPECT_DOUBLE_EQ(job.gpu_use, 0.625);
  EXPECT_DOUBLE_EQ(job.memory_used_gb, 3);
  EXPECT_EQ(log.jobs[1].id, "5#2");
}

constexpr const char* kGpuHeader =
    "JobID|JobName|User|Partition|State|Submit|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocTRES|"
    "TotalCPU|"
    "MaxRSS|NTasks|TRESUsageInAve|TRESUsageInMax|ConsumedEnergyRaw\n";

/// A job of an hour on `tres`, and its step with `usage`: three cells.
std::string hour(const std::string& id, const std::string& tres, const std::string& tasks,
                 const std::string& usage, const std::string& user = "ann") {
  return id + "|train|" + user + "|gpu|COMPLETED|2026-01-05T08:00:00|3600|120|8|" + tres +
         "|04:00:00|||||" + "\n" + id + ".0|train||||2026-01-05T08:00:00|3600||8|" + tres +
         "|04:00:00|4G|" + tasks + "|" + usage + "\n";
}

JobUseLog gpu_use_of(const std::string& rows, const std::string& header = kGpuHeader) {
  const TemporaryFolder folder;
  auto log = read_job_use(folder.write("week", header + rows));
  if (!log) {
    ADD_FAILURE() << to_string(log.error());
    return {};
  }
  return std::move(*log);
}

TEST(Efficiency, ReadsGpuMemoryTypeAndPartition) {
  const auto log =
      gpu_use_of(hour("1", "cpu=8,gres/gpu:a100=2,gres/gpu=2", "2",
                      "gres/gpumem=9G,gres/gpuutil=30|gres/gpumem=10G,gres/gpuutil=95|"));
  const JobUse& job = log.jobs.at(0);
  EXPECT_EQ(job.partition, "gpu");
  EXPECT_EQ(job.gpu_type, "a100");
  EXPECT_DOUBLE_EQ(job.gpu_use, 0.3) << "two tasks, each with a GPU, at the last sample";
  EXPECT_TRUE(job.gpu_use_is_sample);
  EXPECT_DOUBLE_EQ(job.gpu_use_at_most, 0.95);
  EXPECT_DOUBLE_EQ(job.gpu_memory_gb, 20) << "10 GB of each of two tasks";
  EXPECT_TRUE(log.notes.empty());
}

TEST(Efficiency, CountsGpuHoursAtZeroWhereNoSampleSawThemCompute) {
  const std::string two = "cpu=8,gres/gpu=2";
  const auto log = gpu_use_of(hour("1", two, "1", "gres/gpuutil=0|gres/gpuutil=0|") +
                              hour("2", two, "1", "gres/gpuutil=0|gres/gpuutil=100|") +
                              hour("3", two, "1", "cpu=1|cpu=1|"));
  EXPECT_TRUE(log.jobs.at(0).left_gpus_unused());
  EXPECT_FALSE(log.jobs.at(1).left_gpus_unused()) << "idle at the last sample only";
  EXPECT_FALSE(log.jobs.at(2).left_gpus_unused()) << "not measured";
  const UserUse user = by_user(log.jobs).at(0);
  EXPECT_DOUBLE_EQ(user.gpu_hours, 6);
  EXPECT_DOUBLE_EQ(user.gpu_hours_known, 4);
  EXPECT_DOUBLE_EQ(user.gpu_hours_judged, 4);
  EXPECT_DOUBLE_EQ(user.gpu_hours_at_zero, 2);
  EXPECT_EQ(user.jobs_at_zero, 1);
}

TEST(Efficiency, TellsAMeanFromASample) {
  JobUse job{.gpus = 1, .gpu_use = 0};
  EXPECT_TRUE(job.left_gpus_unused()) << "a mean of 0";
  job.gpu_use_is_sample = true;
  EXPECT_FALSE(job.left_gpus_unused()) << "the last sample alone";
}

TEST(Efficiency, ReadsEnergyAndTakesZeroAsNotMeasured) {
  const auto energy = [](const std::string& joules) {
    std::string rows = hour("1", "cpu=8", "1", "||");
    rows.insert(rows.find('\n'), joules);
    return gpu_use_of(rows).jobs.at(0).energy_j;
  };
  EXPECT_DOUBLE_EQ(energy("7200000"), 7.2e6);
  EXPECT_TRUE(std::isnan(energy("0")));
  EXPECT_TRUE(std::isnan(energy("18446744073709551614")));
}

TEST(Efficiency, SaysWhatRecordsTheUseOfGpus) {
  const std::string gpu = "cpu=8,gres/gpu=1";
  EXPECT_THAT(gpu_use_of(hour("1", gpu, "1", "cpu=1|cpu=1|")).notes,
              testing::ElementsAre(testing::AllOf(HasSubstr("AccountingStorageTRES=gres/gpu"),
                                                  HasSubstr("JobAcctGatherType"),
                                                  HasSubstr("AutoDetect=nvml"))));
  const std::string without =
      "JobID|JobName|User|Partition|State|Submit|ElapsedRaw|TimelimitRaw|AllocCPUS|AllocTRES|"
      "TotalCPU|MaxRSS|NTasks|Account|WCKey|Layout\n";
  EXPECT_THAT(gpu_use_of(hour("1", gpu, "1", "||"), without).notes,
              testing::ElementsAre(HasSubstr("needs the columns TRESUsageInAve and "
                                             "TRESUsageInMax: sacct -aP")));
  EXPECT_TRUE(gpu_use_of(hour("1", "cpu=8", "1", "cpu=1|cpu=1|")).notes.empty()) << "no GPUs";
}

TEST(Efficiency, SortsJobsByWhatTheyLeftIdle) {
  std::vector<JobUse> jobs{{.id = "half", .elapsed = 1h, .cores = 4, .gpus = 8, .cores_used = 4},
                           {.id = "cpu", .elapsed = 9h, .cores = 4, .cores_used = 0},
                           {.id = "idle", .elapsed = 1h, .cores = 4, .gpus = 8, .cores_used = 4}};
  jobs[0].gpu_use = 0.5;
  jobs[2].gpu_use = 0;
  sort_by_waste(jobs);
  EXPECT_EQ(jobs[0].id, "idle");
  EXPECT_EQ(jobs[1].id, "half");
  EXPECT_EQ(jobs[2].id, "cpu");
}

TEST(Efficiency, DoubtsWhatIsMoreThanWasHeld) {
  JobUse job{.cores = 2, .memory_gb = 16, .cores_used = 92.6, .memory_used_gb = 9};
  EXPECT_TRUE(job.used_more_cores());
  EXPECT_FALSE(job.used_more_memory());
  job.cores_used = 2.05;
  EXPECT_FALSE(job.used_more_cores()) << "rounding";
  job.cores_used = std::nan("");
  EXPECT_FALSE(job.used_more_cores());
}

TEST(Efficiency, SaysWhereStatisticsAreMissing) {
  const auto log = use_of("1|a|ann|COMPLETED|2026-01-05T08:00:00|3600|120|1|cpu=1|00:00:00|||\n");
  EXPECT_TRUE(std::isnan(log.jobs.at(0).cores_used)) << "sacct -X says 0";
  EXPECT_THAT(log.notes, testing::ElementsAre(HasSubstr("run sacct without -X")));
}

TEST(Efficiency, GivesTheCommandWhereAColumnIsMissing) {
  const TemporaryFolder folder;
  const auto jobs = read_job_use(folder.write("week", "JobID|User|Elapsed\n1|ann|00:01:00\n"));
  ASSERT_FALSE(jobs);
  EXPECT_THAT(to_string(jobs.error()), HasSubstr("the column \"ElapsedRaw\" is missing"));
  EXPECT_THAT(to_string(jobs.error()), HasSubstr("sacct -aP -S now-7days -o JobID,"));
}

}  // namespace
}  // namespace almanac::study
