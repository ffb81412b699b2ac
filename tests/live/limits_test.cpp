// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits of jobs as the service knows of them.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/box.h"
#include "machine/machine.h"
#include "process/cgroup.h"
#include "shepherd/run.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

TEST_F(Box, LearnsThatAJobRanOutOfMemoryWhileItWasAway) {
  Machine machine = made_up(1);
  machine.cluster.classes.front().memory_gb = 1;
  const auto box = [&] { return Config{.state = state(), .machine = machine, .policy = "fifo"}; };
  begin(box());
  store::Submission asked = shell(
      "until [ -e grow ]; do sleep 0.01; done; (x=$(head -c 200000000 /dev/zero | tr '\\0' x); "
      "sleep 1000; :) & wait; sleep 1000");
  asked.memory_gb = 0.05;
  const JobNumber number = submit(asked);
  ASSERT_TRUE(comes_to(number, JobState::running));
  EXPECT_TRUE(eventually([&] { return !service_->job(number)->limits_by.empty(); }));
  EXPECT_THAT(service_->job(number)->limits_by,
              testing::AnyOf("memory: cgroup v2", "memory: watched"));
  end();
  std::ofstream(folder_ / "work/grow") << "";
  const std::filesystem::path run = folder_ / "state/runs/1.1/exit.json";
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(run); }));
  begin(box());
  ASSERT_TRUE(comes_to(number, JobState::failed));
  EXPECT_EQ(look(number).reason, "out of memory");
  EXPECT_EQ(look(number).signal, SIGKILL);
}

/// Whether this process, seen by it alone, has no control groups any more.
bool unmount_groups() {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return false;
  }
  for (std::string mount; !(mount = process::cgroup_tree().mount).empty();) {
    if (::umount2(mount.c_str(), MNT_DETACH) != 0) return false;
  }
  return true;
}

TEST(NoControlGroups, AreSaidWithWhatThatMeans) {
  constexpr int kMayNot = 2;
  const auto warns = [] {
    const std::vector<std::string> notes = find_machine("").value().notes;
    return std::any_of(notes.begin(), notes.end(), [](const std::string& each) {
      return each.starts_with("jobs run without control groups (");
    });
  };
  EXPECT_EQ(warns(), !shepherd::try_group());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(unmount_groups() ? (warns() ? 0 : 1) : kMayNot);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == kMayNot) GTEST_SKIP() << "needs to unmount control groups";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace almanac::machine
