// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that is stopped for another, and whatever becomes of it until its process has gone.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

namespace fs = std::filesystem;

using store::JobNumber;
using trace::JobState;

/// A job that a shorter one drives out, though it lets itself be killed only after its grace.
class DrivenOut : public Box {
 protected:
  void SetUp() override {
    Box::SetUp();
    begin("srtf+limit", 4);
    stubborn_ = submit(limited(1h,
                               "[ $ALMANAC_ATTEMPT = 1 ] && trap '' TERM; echo + >> log; "
                               "[ $ALMANAC_ATTEMPT != 1 ] || while :; do sleep 0.05; done"));
    ASSERT_TRUE(eventually([&] { return text("log") == "+\n"; }));
  }
  store::Submission limited(Duration limit, const std::string& command) {
    store::Submission asked = shell(command, 4);
    asked.time_limit = limit;
    return asked;
  }
  JobNumber drive_out() {
    const JobNumber shorter = submit(limited(1min, "true"));
    EXPECT_EQ(look(stubborn_).preemptions, 1);
    return shorter;
  }

  JobNumber stubborn_{};
};

TEST_F(DrivenOut, RunsAgain) {
  const JobNumber shorter = drive_out();
  ASSERT_TRUE(comes_to(stubborn_, JobState::completed));
  EXPECT_EQ(text("log"), "+\n+\n");
  EXPECT_EQ(look(shorter).state, JobState::completed);
}

TEST_F(DrivenOut, MayEndBeforeItsProcessHas) {
  drive_out();
  end();
  begin("srtf+limit", 1);
  ASSERT_TRUE(comes_to(stubborn_, JobState::failed));
  EXPECT_EQ(look(stubborn_).reason.rfind("it can never run here", 0), 0U);
  ASSERT_TRUE(comes_to(submit(shell("true")), JobState::completed));
  EXPECT_EQ(look(stubborn_).state, JobState::failed);
}

TEST_F(DrivenOut, StaysCancelledOverARestart) {
  const JobNumber shorter = drive_out();
  ASSERT_TRUE(service_->cancel({stubborn_}, me_, false));
  end();
  begin("srtf+limit", 4);
  ASSERT_TRUE(comes_to(stubborn_, JobState::cancelled));
  ASSERT_TRUE(comes_to(shorter, JobState::completed));
  EXPECT_EQ(text("log"), "+\n");
}

TEST_F(DrivenOut, StaysCancelledWhenItsProcessEndsWithNoServiceThere) {
  const JobNumber shorter = drive_out();
  ASSERT_TRUE(service_->cancel({stubborn_}, me_, false));
  const fs::path folder = fs::path(state()) / "runs" / "1.1";
  end();
  ASSERT_TRUE(eventually([&] { return fs::exists(folder / "exit.json"); }));
  begin("srtf+limit", 4);
  ASSERT_TRUE(comes_to(stubborn_, JobState::cancelled));
  ASSERT_TRUE(comes_to(shorter, JobState::completed));
  EXPECT_EQ(text("log"), "+\n");
}

TEST_F(DrivenOut, MayBeHeldAndThenCancelled) {
  drive_out();
  ASSERT_TRUE(service_->hold({stubborn_}, me_));
  ASSERT_TRUE(service_->cancel({stubborn_}, me_, false));
  ASSERT_TRUE(comes_to(stubborn_, JobState::cancelled));
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
}

TEST_F(DrivenOut, RunsAgainIfItIsRequeuedAfterItWasCancelled) {
  drive_out();
  ASSERT_TRUE(service_->cancel({stubborn_}, me_, false));
  ASSERT_TRUE(service_->requeue({stubborn_}, me_));
  ASSERT_TRUE(comes_to(stubborn_, JobState::completed));
  EXPECT_EQ(text("log"), "+\n+\n");
}

TEST_F(DrivenOut, RunsAgainOnceIfItWasRequeuedBefore) {
  ASSERT_TRUE(service_->requeue({stubborn_}, me_));
  drive_out();
  ASSERT_TRUE(comes_to(stubborn_, JobState::completed));
  EXPECT_EQ(text("log"), "+\n+\n");
}

}  // namespace
}  // namespace almanac::machine
