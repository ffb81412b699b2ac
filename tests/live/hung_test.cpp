// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs whose files are on a file system that does not answer: they end when they are told to, or
/// at their limit; others have their GPU; the service begins again beside what waits there still.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "live/box.h"
#include "live/hung_files.h"
#include "shepherd/run.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

class Hung : public Box {
 protected:
  void SetUp() override {
    Box::SetUp();
    std::filesystem::create_directory(folder_ / "hung");
  }
  /// After the mount, which threads that are there do not see.
  void begin_here() {
    begin({.state = state(),
           .machine = made_up(1),
           .policy = "fifo",
           .futures = 0,
           .patience = 100ms});
  }
  /// A job in the folder that hangs.
  store::Submission there(const std::string& text) const {
    store::Submission asked = shell(text);
    asked.directory = (folder_ / "hung").string();
    asked.grace = 0ms;
    return asked;
  }
  bool has_a_run() {
    return eventually([&] { return std::filesystem::exists(state() + "/runs/1.1/lock"); });
  }
  /// The GPU is free, and a service that is begun again finds nothing in its way.
  void expect_others_run() {
    EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
    end();
    begin_here();
    EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  }
};

/// Its shepherd, which hangs, cannot take leave of it.
bool has_ended(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

class HungFolder : public Hung, public testing::WithParamInterface<HungFiles::Server> {};

TEST_P(HungFolder, KeepsNobodyFromCancellingAJob) {
  const HungFiles files(folder_ / "hung", GetParam());
  if (!files.trouble().empty()) GTEST_SKIP() << files.trouble();
  begin_here();
  const JobNumber job = submit(there("true"));
  ASSERT_TRUE(comes_to(job, JobState::running) && has_a_run());
  ASSERT_TRUE(service_->cancel({job}, me_, false));
  ASSERT_TRUE(comes_to(job, JobState::cancelled)) << look(job).reason;
  expect_others_run();
}

TEST_P(HungFolder, KeepsNoJobBeyondItsTimeLimit) {
  const HungFiles files(folder_ / "hung", GetParam());
  if (!files.trouble().empty()) GTEST_SKIP() << files.trouble();
  begin_here();
  store::Submission asked = there("true");
  asked.time_limit = 1s;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(comes_to(job, JobState::timeout)) << look(job).reason;
  expect_others_run();
}

TEST_F(Hung, FolderThatIsThereAtLastIsEntered) {
  HungFiles files(folder_ / "hung", HungFiles::Server::answers_nothing);
  if (!files.trouble().empty()) GTEST_SKIP() << files.trouble();
  begin_here();
  store::Submission asked = there("true");
  asked.out = folder_ / "work/out";
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return files.is_waited_for(); }));
  files.come_back();
  EXPECT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
}

TEST_F(Hung, FolderKeepsNoServiceFromBeginning) {
  HungFiles files(folder_ / "hung", HungFiles::Server::answers_nothing);
  if (!files.trouble().empty()) GTEST_SKIP() << files.trouble();
  begin_here();
  const JobNumber job = submit(there("true"));
  ASSERT_TRUE(comes_to(job, JobState::running));
  ASSERT_TRUE(eventually([&] { return files.is_waited_for(); }));
  const pid_t shepherd = shepherd::Run::adopt(state() + "/runs/1.1")->shepherd();
  end();
  ::kill(shepherd, SIGKILL);
  begin_here();
  EXPECT_TRUE(comes_to(job, JobState::node_fail)) << look(job).reason;
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
}

INSTANTIATE_TEST_SUITE_P(OfAServer, HungFolder,
                         testing::Values(HungFiles::Server::hears_nothing,
                                         HungFiles::Server::answers_nothing));

TEST_F(Hung, LogKeepsNoJobAlive) {
  const HungFiles files(folder_ / "hung", HungFiles::Server::writes_nothing);
  if (!files.trouble().empty()) GTEST_SKIP() << files.trouble();
  begin_here();
  const std::string ready = folder_ / "work/ready";
  const std::string process = folder_ / "work/process";
  store::Submission asked =
      there("trap '' TERM; echo $$ >" + process + "; echo to the log; echo ready >" + ready +
            "; while :; do sleep 0.05; done");
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("ready") == "ready\n"; }));
  ASSERT_TRUE(service_->cancel({job}, me_, false));
  ASSERT_TRUE(comes_to(job, JobState::cancelled)) << look(job).reason;
  EXPECT_TRUE(has_ended(std::stoi(text("process"))));
  expect_others_run();
}

}  // namespace
}  // namespace almanac::machine
