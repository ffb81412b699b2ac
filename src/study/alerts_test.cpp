// SPDX-License-Identifier: Apache-2.0
#include "study/alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/alert_rows.h"
#include "support/temporary_folder.h"

namespace almanac::study {
namespace {

using testing::HasSubstr;

/// Ten hours with four of these GPUs, 40 GPU-hours, that break no norm.
JobUse fine_job(const std::string& id) {
  return {.id = id,
          .user = "ann",
          .state = "COMPLETED",
          .elapsed = 10h,
          .limit = 20h,
          .cores = 32,
          .gpus = 4,
          .memory_gb = 400,
          .cores_used = 20,
          .memory_used_gb = 300,
          .gpu_type = "a100",
          .gpu_use = 0.9,
          .gpu_use_at_most = 1,
          .gpu_memory_gb = 200};
}

std::vector<std::string> kinds_of(const JobUse& job, const Norms& norms = {}) {
  std::vector<std::string> made;
  for (const Alert& alert : find_alerts({job}, norms)) made.emplace_back(to_string(alert.kind));
  return made;
}

TEST(Alerts, ComeFromNormsThatJobsBreak) {
  using testing::ElementsAre;
  EXPECT_THAT(kinds_of(fine_job("1")), ElementsAre());
  JobUse job = fine_job("1");
  job.gpu_use = job.gpu_use_at_most = 0;
  EXPECT_THAT(kinds_of(job), ElementsAre("unused-gpus")) << "and not low use as well";
  job = fine_job("1");
  job.gpu_use = 0.25;
  EXPECT_THAT(kinds_of(job), ElementsAre("low-gpu-use"));
  job.gpu_use = 0.26;
  EXPECT_THAT(kinds_of(job), ElementsAre());
  job.gpu_use = 0;
  job.gpu_use_is_sample = true;
  EXPECT_THAT(kinds_of(job), ElementsAre()) << "its last sample was 0, another one 100 %";
  job.gpu_use_at_most = 0.25;
  EXPECT_THAT(kinds_of(job), ElementsAre("low-gpu-use"));
  job = fine_job("1");
  job.cores = 65;
  EXPECT_THAT(kinds_of(job), ElementsAre("many-cores")) << "more than 16 for each of four GPUs";
  job.cores_used = 60;
  EXPECT_THAT(kinds_of(job), ElementsAre()) << "it uses 92 % of them";
  job.memory_gb = 600;
  EXPECT_THAT(kinds_of(job), ElementsAre("much-memory")) << "150 GB per GPU, half used";
  job = fine_job("1");
  job.limit = 50h;
  EXPECT_THAT(kinds_of(job), ElementsAre("long-time-limit"));
  job.state = "FAILED";
  EXPECT_THAT(kinds_of(job), ElementsAre()) << "a job that failed early says nothing of its limit";
}

TEST(Alerts, FindJobsForASmallerGpu) {
  JobUse small = fine_job("1");
  small.gpus = 1;
  small.cores = 8;
  small.memory_gb = 60;
  small.elapsed = 30h;
  small.limit = 40h;
  small.gpu_use = 0.15;
  small.gpu_memory_gb = 6;
  small.memory_used_gb = 20;
  Norms norms;
  norms.low_gpu_use = 0;
  EXPECT_THAT(kinds_of(small, norms), testing::ElementsAre("strong-gpu"));
  for (const char* const type : {"a100_3g.20gb", "t4", ""}) {
    JobUse other = small;
    other.gpu_type = type;
    EXPECT_TRUE(kinds_of(other, norms).empty()) << type;
  }
  JobUse unknown = small;
  unknown.gpu_memory_gb = JobUse::kUnknown;
  EXPECT_TRUE(kinds_of(unknown, norms).empty()) << "it may need the memory";
}

TEST(Alerts, AddUpJobsOfAUserAndLeaveOutLittle) {
  std::vector<JobUse> jobs;
  for (const char* const id : {"1", "2", "3"}) {
    jobs.push_back(fine_job(id));
    jobs.back().gpu_use = jobs.back().gpu_use_at_most = 0;
  }
  jobs[1].elapsed = 12h;
  jobs[2].user = "bob";
  jobs[2].elapsed = 5h;
  JobUse brief = jobs[0];
  brief.elapsed = 59min;
  jobs.push_back(brief);
  const auto alerts = find_alerts(jobs, {});
  ASSERT_EQ(alerts.size(), 1U) << "bob's 20 GPU-hours are less than 24";
  EXPECT_EQ(alerts[0].user, "ann");
  EXPECT_DOUBLE_EQ(alerts[0].gpu_hours, 88) << "without the run of 59 minutes";
  ASSERT_EQ(alerts[0].jobs.size(), 2U);
  EXPECT_EQ(alerts[0].jobs[0]->id, "2") << "the one with most GPU-hours first";
}

TEST(Alerts, CountTheUnusedPartOfATimeLimit) {
  JobUse job = fine_job("1");
  job.limit = 50h;
  EXPECT_DOUBLE_EQ(find_alerts({job}, {}).at(0).gpu_hours, 160) << "four GPUs for 40 hours";
}

TEST(Alerts, ArePrintedWithTheirNorms) {
  JobUse job = fine_job("17");
  job.cores = 128;
  const std::vector<JobUse> jobs{job};
  const auto alerts = find_alerts(jobs, {});
  const std::string table = alert_rows(alerts, {}).table();
  EXPECT_THAT(table, HasSubstr("many-cores  ann      1       40.0  32 cores/GPU, 16 % used  17"));
  EXPECT_THAT(norms_in_words(alerts, {}),
              HasSubstr("many-cores: more than 16 cores/GPU, less than 80 % of them used"));
}

TEST(Norms, AreReadFromAFile) {
  const TemporaryFolder folder;
  const auto norms = read_norms(folder.write(
      "n.toml", "cores_per_gpu = 12\nstrong_gpus = [\"RTX6000\"]\nlimit_used = 0.1\n"));
  ASSERT_TRUE(norms) << to_string(norms.error());
  EXPECT_EQ(norms->cores_per_gpu, 12);
  EXPECT_EQ(norms->limit_used, 0.1);
  EXPECT_EQ(norms->gpu_hours, 24) << "what the file leaves out stays";
  EXPECT_THAT(norms->strong_gpus, testing::ElementsAre("rtx6000"));
}

TEST(Norms, AreReadFromTheirTableInASettingsFile) {
  const TemporaryFolder folder;
  const auto norms = read_norms(folder.write("n.toml", "[efficiency.norms]\ncores_per_gpu = 12\n"));
  ASSERT_TRUE(norms) << to_string(norms.error());
  EXPECT_EQ(norms->cores_per_gpu, 12);
  const auto mixed =
      read_norms(folder.write("n.toml", "gpu_hours = 1\n[efficiency.norms]\ncores_per_gpu = 12\n"));
  ASSERT_FALSE(mixed);
  EXPECT_THAT(to_string(mixed.error()), HasSubstr("n.toml:1:1: unknown key gpu_hours"));
}

TEST(Norms, RefuseWhatTheyDoNotKnow) {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& text) {
    const auto norms = read_norms(folder.write("n.toml", text));
    return norms ? "" : to_string(norms.error());
  };
  EXPECT_THAT(error_of("core_per_gpu = 12\n"), HasSubstr("did you mean cores_per_gpu?"));
  EXPECT_THAT(error_of("\ncores_per_gpu = \"12\"\n"),
              HasSubstr("n.toml:2:17: cores_per_gpu must be a number, 0 or more"));
  EXPECT_THAT(error_of("gpu_hours = -1\n"), HasSubstr("must be a number, 0 or more"));
  EXPECT_THAT(error_of("strong_gpus = \"a100\"\n"), HasSubstr("must be a list of GPU types"));
}

}  // namespace
}  // namespace almanac::study
