// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits of jobs as the service knows of them.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::live {
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

}  // namespace
}  // namespace almanac::live
