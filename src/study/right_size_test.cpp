// SPDX-License-Identifier: Apache-2.0
#include "study/right_size.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace almanac::study {
namespace {

/// Six jobs of ann's that hold 16 cores and 64 GB for up to 3 h of 24 h, and use 3 cores and 10 GB.
std::vector<JobUse> six() {
  std::vector<JobUse> jobs;
  for (int each = 1; each <= 6; ++each) {
    jobs.push_back({.id = std::to_string(each),
                    .name = "train",
                    .user = "ann",
                    .state = "COMPLETED",
                    .elapsed = each * 30min,
                    .limit = 24h,
                    .cores = 16,
                    .memory_gb = 64,
                    .cores_used = 3,
                    .memory_used_gb = 10});
  }
  return jobs;
}

TEST(RightSize, IsALittleMoreThanWhatWasUsed) {
  const auto sizes = right_sizes(six());
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes[0].jobs, 6);
  EXPECT_EQ(sizes[0].enough_cores, 4);
  EXPECT_EQ(sizes[0].enough_memory_gb, 12);
  EXPECT_EQ(sizes[0].enough_limit, 3h + 45min);
  EXPECT_DOUBLE_EQ(sizes[0].core_hours, 12 * (0.5 + 1 + 1.5 + 2 + 2.5 + 3));
  EXPECT_DOUBLE_EQ(sizes[0].gb_hours, 52 * 10.5);
  EXPECT_DOUBLE_EQ(sizes[0].saved({.core_hour = 2, .gb_hour = 0.5}), 2 * 126 + 0.5 * 546);
}

TEST(RightSize, IsForJobsOfOneRequest) {
  auto jobs = six();
  jobs.push_back(jobs.back());
  jobs.back().cores = 144;
  jobs.back().cores_used = 60;
  const auto sizes = right_sizes(jobs);
  ASSERT_EQ(sizes.size(), 1U) << "one job of 144 cores is too few";
  EXPECT_EQ(sizes[0].jobs, 6);
  EXPECT_EQ(sizes[0].cores, 16);
  EXPECT_TRUE(is_for(sizes[0], jobs.front()));
  EXPECT_FALSE(is_for(sizes[0], jobs.back()));
  EXPECT_EQ(sizes[0].enough_cores, 4);
}

TEST(RightSize, SaysNothingOfFourJobs) {
  auto jobs = six();
  jobs.resize(4);
  EXPECT_TRUE(right_sizes(jobs).empty());
}

TEST(RightSize, SaysNothingOfWhatIsNotKnownOfOneJob) {
  auto jobs = six();
  jobs[2].cores_used = std::numeric_limits<double>::quiet_NaN();
  const auto sizes = right_sizes(jobs);
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_TRUE(std::isnan(sizes[0].enough_cores));
  EXPECT_EQ(sizes[0].core_hours, 0);
  EXPECT_EQ(sizes[0].enough_memory_gb, 12);
}

TEST(RightSize, SaysNothingWhereAJobHadTooLittle) {
  auto jobs = six();
  jobs[0].state = "TIMEOUT";
  jobs[1].state = "OUT_OF_MEMORY";
  const auto sizes = right_sizes(jobs);
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes[0].enough_cores, 4);
  EXPECT_TRUE(std::isnan(sizes[0].enough_memory_gb));
  EXPECT_EQ(sizes[0].enough_limit, kNoDuration);
}

TEST(RightSize, SaysNothingWhereLittleWouldBeSaved) {
  auto jobs = six();
  for (JobUse& job : jobs) {
    job.cores_used = 12;
    job.memory_used_gb = 50;
    job.limit = 4h;
  }
  EXPECT_TRUE(right_sizes(jobs).empty());
}

TEST(RightSize, PricesWhatWasNotUsed) {
  EXPECT_DOUBLE_EQ(
      cost_of_unused({.core_hours_unused = 6, .gpu_hours_unused = 2.8, .gb_hours_unused = 50},
                     {.gpu_hour = 2, .core_hour = 0.05, .gb_hour = 0.002}),
      6);
  EXPECT_TRUE(Prices{.gb_hour = 0.002}.any());
}

}  // namespace
}  // namespace almanac::study
