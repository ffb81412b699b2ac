// SPDX-License-Identifier: Apache-2.0
#include "agent/job_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up_groups.h"

namespace almanac::agent {
namespace {

using manager::JobNumber;
using testing::ElementsAre;

std::vector<std::uint32_t> numbers(const std::vector<JobGroups>& jobs) {
  std::vector<std::uint32_t> made;
  for (const JobGroups& each : jobs) made.push_back(static_cast<std::uint32_t>(each.job));
  return made;
}

TEST(JobGroups, AreFoundInV2) {
  MadeUpGroups node;
  node.add_v2(12);
  node.add_v2(7);
  node.put(node.at("unified/system.slice/slurmstepd.scope/system/cgroup.procs"), "");
  node.put(node.at("unified/system.slice/slurmstepd.scope/job_x/cgroup.procs"), "");
  const auto jobs = node.jobs();
  EXPECT_THAT(numbers(jobs), ElementsAre(7, 12));
  EXPECT_EQ(jobs.front().unified, node.v2(7));
  EXPECT_EQ(jobs.front().cpuset, "");
}

TEST(JobGroups, OfANodeThatSharesItsMachineAreItsOwnOnly) {
  MadeUpGroups node;
  node.add_v2(1, "0-3", "n001_slurmstepd.scope");
  node.add_v2(2, "0-3", "n002_slurmstepd.scope");
  node.put(node.at("cpuset/slurm_n001/uid_0/job_3/cpuset.cpus"), "0-3");
  node.put(node.at("cpuset/slurm_n002/uid_0/job_4/cpuset.cpus"), "0-3");
  EXPECT_THAT(numbers(node.jobs("n001")), ElementsAre(1, 3));
}

TEST(JobGroups, AreFoundInEachControllerOfV1) {
  MadeUpGroups node;
  node.add_v1(12);
  node.add_v1(13, "0-3", "0-3", false);
  const auto jobs = node.jobs();
  ASSERT_THAT(numbers(jobs), ElementsAre(12, 13));
  EXPECT_EQ(jobs[0].cpu, node.v1("cpu", 12));
  EXPECT_EQ(jobs[0].cpuacct, node.v1("cpuacct", 12));
  EXPECT_EQ(jobs[1].cpuset, node.v1("cpuset", 13));
  EXPECT_EQ(jobs[1].cpu, "");
}

TEST(JobGroups, HaveTheProcessesOfTheirSteps) {
  MadeUpGroups node;
  node.add_v2(12);
  node.put(node.v2(12) + "/step_0/user/task_0/cgroup.procs", "100\n101");
  node.put(node.v2(12) + "/step_batch/user/task_special/cgroup.procs", "200");
  EXPECT_THAT(processes_of(node.jobs().front()), testing::UnorderedElementsAre(100, 101, 200));
}

TEST(JobGroups, AreNotThereWithoutSlurm) {
  MadeUpGroups node;
  EXPECT_TRUE(node.jobs().empty());
  EXPECT_TRUE(find_jobs({}, "n001").empty());
}

TEST(Mounts, AreReadAsTheKernelTellsThem) {
  MadeUpGroups node;
  node.put(node.at("mountinfo"),
           "25 21 0:22 / /proc rw,nosuid - proc proc rw\n"
           "36 24 0:32 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
           "37 24 0:33 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
           "38 24 0:34 / /sys/fs/cgroup/cpuset rw,nosuid - cgroup cgroup rw,cpuset\n"
           "39 24 0:35 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd");
  const Mounts mounts = find_mounts(node.at("mountinfo"));
  EXPECT_EQ(mounts.unified, "/sys/fs/cgroup/unified");
  EXPECT_EQ(mounts.cpu, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(mounts.cpuacct, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(mounts.cpuset, "/sys/fs/cgroup/cpuset");
  EXPECT_EQ(mounts.freezer, "");
}

}  // namespace
}  // namespace almanac::agent
