// SPDX-License-Identifier: Apache-2.0
#include "slurm/own_priority.h"

#include <gtest/gtest.h>

namespace almanac::slurm {
namespace {

Job pending_job(std::uint32_t number) {
  Job job;
  job.number = JobNumber{number};
  job.state = State::pending;
  job.priority = 77'777;
  return job;
}

TEST(OwnPriorityTest, IsThatOfAPendingJobListedWithoutFactors) {
  std::vector<Job> jobs = {pending_job(1), pending_job(2)};
  tell_own_priorities(jobs, {JobNumber{2}});
  EXPECT_FALSE(jobs[0].own_priority);
  EXPECT_TRUE(jobs[1].own_priority);
}

// The list of factors is read after the jobs, and has no job that started in between. Such jobs
// once counted as reordered by an administrator, and six of them switched all levers to dry.
TEST(OwnPriorityTest, IsNotInferredFromAMissingLine) {
  std::vector<Job> jobs = {pending_job(1)};
  tell_own_priorities(jobs, {});
  EXPECT_FALSE(jobs[0].own_priority);
}

TEST(OwnPriorityTest, IsGoneOnceTheJobRuns) {
  std::vector<Job> jobs = {pending_job(1)};
  tell_own_priorities(jobs, {JobNumber{1}});
  ASSERT_TRUE(jobs[0].own_priority);
  jobs[0].state = State::running;
  tell_own_priorities(jobs, {JobNumber{1}});
  EXPECT_FALSE(jobs[0].own_priority);
}

}  // namespace
}  // namespace almanac::slurm
