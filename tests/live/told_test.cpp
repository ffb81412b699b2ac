// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that are told to end: as one, in the time that they have, whatever they and their shepherds
/// do about it.
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "live/box.h"
#include "shepherd/run.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

constexpr const char* kDeaf = "trap '' TERM; echo ready > ready; while :; do sleep 0.05; done";

TEST_F(Box, StartsNoTaskOfAnArrayThatIsCancelled) {
  begin("fifo", 1);
  store::Submission asked = shell("echo + >> log; sleep 1000");
  for (int task = 0; task < 60; ++task) asked.indices.push_back(task);
  const auto numbers = service_->submit(asked);
  ASSERT_TRUE(numbers);
  ASSERT_TRUE(eventually([&] { return text("log") == "+\n"; }));
  ASSERT_TRUE(service_->cancel(*numbers, me_, false));
  for (const JobNumber each : *numbers) ASSERT_TRUE(comes_to(each, JobState::cancelled));
  EXPECT_EQ(text("log"), "+\n");
  const auto again = service_->cancel({numbers->front()}, me_, false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "job 1 has ended: CANCELLED");
}

TEST_F(Box, RefusesAGraceBeyondTheSites) {
  begin({.state = state(), .machine = made_up(1), .futures = 0, .max_grace = 1min});
  store::Submission asked = shell("true");
  asked.grace = 2min;
  const auto refused = service_->submit(asked);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::usage);
  EXPECT_EQ(refused.error().message, "grace may be at most 00:01:00 here, not 00:02:00");
  asked.grace = 1min;
  EXPECT_TRUE(comes_to(submit(asked), JobState::completed));
}

TEST_F(Box, CancelledAtOnceAJobHasNoGrace) {
  begin("fifo", 1);
  store::Submission asked = shell(kDeaf);
  asked.grace = 10min;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("ready") == "ready\n"; }));
  ASSERT_TRUE(service_->cancel({job}, me_, false));
  ASSERT_TRUE(service_->cancel({job}, me_, true));
  ASSERT_TRUE(comes_to(job, JobState::cancelled));
  EXPECT_EQ(look(job).signal, SIGKILL);
}

TEST_F(Box, RunsAgainWhatEndedWithAllProcessesOfTheMachine) {
  begin("fifo", 1);
  store::Submission asked =
      shell("[ $ALMANAC_ATTEMPT = 2 ] || { echo ready > ready; exec sleep 1000; }");
  asked.requeue = trace::Requeue::yes;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("ready") == "ready\n"; }));
  const shepherd::Run run = *shepherd::Run::adopt(state() + "/runs/1.1");
  const std::string stat = "/proc/" + std::to_string(run.process()) + "/stat";
  // It hears of both at once.
  ::kill(run.shepherd(), SIGSTOP);
  ::kill(run.process(), SIGTERM);
  ::kill(run.shepherd(), SIGTERM);
  ASSERT_TRUE(eventually([&] {
    std::ifstream file(stat);
    return std::string(std::istreambuf_iterator<char>(file), {}).find(") Z") != std::string::npos;
  }));
  ::kill(run.shepherd(), SIGCONT);
  ASSERT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
  EXPECT_EQ(look(job).attempts, 2);
}

TEST_F(Box, EndsAJobPastAShepherdThatDoesNotObey) {
  begin(
      {.state = state(), .machine = made_up(1), .policy = "fifo", .futures = 0, .patience = 100ms});
  store::Submission asked = shell(kDeaf);
  asked.grace = 0ms;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("ready") == "ready\n"; }));
  ::kill(shepherd::Run::adopt(state() + "/runs/1.1")->shepherd(), SIGSTOP);
  ASSERT_TRUE(service_->cancel({job}, me_, false));
  ASSERT_TRUE(comes_to(job, JobState::cancelled)) << look(job).reason;
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
}

TEST_F(Box, EndsAJobWhoseShepherdDoesNotKeepItsTime) {
  begin(
      {.state = state(), .machine = made_up(1), .policy = "fifo", .futures = 0, .patience = 10ms});
  store::Submission asked = shell(kDeaf);
  asked.grace = 0ms;
  asked.time_limit = 2s;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("ready") == "ready\n"; }));
  ::kill(shepherd::Run::adopt(state() + "/runs/1.1")->shepherd(), SIGSTOP);
  ASSERT_TRUE(comes_to(job, JobState::timeout)) << look(job).reason;
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
}

TEST_F(Box, EmptiesWhatAJobSetsAsideInTheServicesFolder) {
  begin("fifo", 1);
  const JobNumber job =
      submit(shell("fallocate -n -l 8M $ALMANAC_PROGRESS && echo >ready; sleep 1000"));
  ASSERT_TRUE(eventually([&] { return text("ready") == "\n"; }));
  EXPECT_TRUE(eventually([&] {
    struct stat file {};
    return ::stat((state() + "/runs/1.1/progress").c_str(), &file) == 0 && file.st_blocks == 0;
  }));
  EXPECT_TRUE(service_->cancel({job}, me_, false));
}

}  // namespace
}  // namespace almanac::machine
