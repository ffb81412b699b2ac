// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fixture itself: it boots, runs jobs with GPUs, loses and regains its controller, and leaves
/// nothing behind.
#include <array>
#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "slurm/test_cluster.h"

namespace almanac::slurm {
namespace {

TEST(SlurmFixtureTest, RunsJobsOfGpus) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const auto gang = cluster.submit("-N 2 --gres=gpu:8 --wrap 'sleep 600'");
  EXPECT_TRUE(cluster.becomes(gang, "RUNNING"));
  EXPECT_THAT(cluster.must("scontrol -d show job " + std::to_string(gang)),
              testing::HasSubstr("GRES=gpu:a100:8(IDX:0-7)"));
}

TEST(SlurmFixtureTest, KeepsItsJobsWithoutItsController) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  const auto job = cluster.submit("-H --wrap true");
  cluster.end_controller("TERM");
  EXPECT_NE(cluster.run("timeout 1 squeue").status, 0);
  cluster.start_controller();
  EXPECT_EQ(cluster.of_job(job, "reason"), "JobHeldUser");
}

TEST(SlurmFixtureTest, LeavesNothingWhenTheTestIsKilled) {
  SKIP_WITHOUT_SLURM();
  std::array<int, 2> word{};
  ASSERT_EQ(::pipe(word.data()), 0);
  const pid_t test = ::fork();
  if (test == 0) {
    const TestCluster cluster({.nodes = 1});
    const ssize_t sent = ::write(word[1], cluster.folder().c_str(), cluster.folder().size());
    ::pause();
    ::_exit(sent > 0 ? 0 : 1);
  }
  ::close(word[1]);
  std::string folder(4096, '\0');
  const ssize_t size = ::read(word[0], folder.data(), folder.size());
  ASSERT_GT(size, 0);
  folder.resize(static_cast<std::size_t>(size));
  EXPECT_TRUE(std::filesystem::exists(folder));
  ::kill(test, SIGKILL);
  ::waitpid(test, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(folder); }));
}

}  // namespace
}  // namespace almanac::slurm
