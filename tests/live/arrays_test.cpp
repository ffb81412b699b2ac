// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tasks of an array, changed as one.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

/// An array of 40 on one GPU, whose first task runs for long.
class Arrays : public Box {
 protected:
  void SetUp() override {
    Box::SetUp();
    begin("fifo", 1);
    store::Submission asked = shell("echo + >> log; [ -e go ] || sleep 1000");
    for (int task = 0; task < 40; ++task) asked.indices.push_back(task);
    all_ = service_->submit(asked).value();
    waiting_.assign(all_.begin() + 1, all_.end());
    ASSERT_TRUE(eventually([&] { return text("log") == "+\n"; }));
  }
  /// When that was last noted of each of these; one time = it was one change.
  std::vector<Time> noted(const std::vector<JobNumber>& numbers, const std::string& what) {
    std::vector<Time> made;
    for (const JobNumber each : numbers) {
      const auto notes = service_->store().notes(each).value();
      const auto last = std::find_if(notes.rbegin(), notes.rend(),
                                     [&](const store::Note& note) { return note.what == what; });
      made.push_back(last == notes.rend() ? kNoTime : last->at);
    }
    std::sort(made.begin(), made.end());
    made.erase(std::unique(made.begin(), made.end()), made.end());
    return made;
  }

  std::vector<JobNumber> all_;
  std::vector<JobNumber> waiting_;
};

TEST_F(Arrays, KeepWhatTheyAskOnce) {
  const auto share_it = [&] {
    const std::vector<service::JobView> jobs = service_->jobs().value();
    ASSERT_EQ(jobs.size(), all_.size());
    for (std::size_t at = 2; at < jobs.size(); ++at) {
      EXPECT_TRUE(jobs[at].job.asked.is_shared_with(jobs[1].job.asked)) << at;
    }
  };
  share_it();
  end();
  begin("fifo", 1);
  share_it();
}

TEST_F(Arrays, AreHeldAndReleasedAsOneWhileATaskRuns) {
  ASSERT_TRUE(service_->hold(all_, me_));
  EXPECT_EQ(look(all_.front()).state, JobState::running);
  for (const JobNumber each : waiting_) EXPECT_EQ(service_->job(each)->why_word, "JobHeldUser");
  EXPECT_EQ(noted(waiting_, "held").size(), 1U);
  EXPECT_EQ(noted({all_.front()}, "held").front(), kNoTime);
  ASSERT_TRUE(service_->cancel({all_.front()}, me_, false));
  ASSERT_TRUE(comes_to(all_.front(), JobState::cancelled));
  EXPECT_EQ(service_->overview().running, 0);
  std::ofstream(folder_ / "work/go");
  ASSERT_TRUE(service_->release(all_, me_));
  EXPECT_EQ(noted(waiting_, "released").size(), 1U);
  for (const JobNumber each : waiting_) ASSERT_TRUE(comes_to(each, JobState::completed));
  for (const auto& refused : {service_->hold(all_, me_), service_->release(all_, me_),
                              service_->cancel(all_, me_, false)}) {
    ASSERT_FALSE(refused) << "all have ended";
    EXPECT_EQ(refused.error().message, "job 1 has ended: CANCELLED");
  }
}

TEST_F(Arrays, AreNotHeldWhereAllOfThemRun) {
  const auto refused = service_->hold({all_.front()}, me_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "job 1 is already running");
}

TEST_F(Arrays, RunAgainAsOneWhetherTheyRunWaitOrHaveEnded) {
  ASSERT_TRUE(service_->cancel(waiting_, me_, false));
  ASSERT_TRUE(eventually([&] { return service_->overview().waiting == 0; }));
  std::ofstream(folder_ / "work/go");
  ASSERT_TRUE(service_->requeue(all_, me_));
  EXPECT_EQ(noted(waiting_, "requeued").size(), 1U);
  for (const JobNumber each : all_) ASSERT_TRUE(comes_to(each, JobState::completed));
  EXPECT_EQ(look(all_.front()).attempts, 2);
  EXPECT_EQ(look(all_.back()).attempts, 1) << "it had never run";
}

TEST_F(Box, ForetellsTheNextInLineOfAVeryLongQueue) {
  begin("fifo", 1, 1);
  store::Submission asked = shell("sleep 1000");
  asked.time_limit = 1h;
  for (int task = 0; task < 10'100; ++task) asked.indices.push_back(task);
  const auto numbers = service_->submit(asked).value();
  // It waits as the last of 10,000; they join the queue some thousands at a time. Forecasts leave
  // the processor to all others, so on a busy machine this takes minutes.
  const auto is_foretold = [&] { return service_->job(numbers[10'000])->expected.has_value(); };
  ASSERT_TRUE(eventually(is_foretold) || eventually(is_foretold) || eventually(is_foretold));
  EXPECT_TRUE(service_->job(numbers[1])->expected);
  EXPECT_FALSE(service_->job(numbers[10'001])->expected);
  ASSERT_TRUE(service_->cancel(numbers, me_, true));
}

TEST_F(Box, RunsAgainFromItsBeginningWhatIsAboutToStart) {
  begin("fifo", 1);
  const std::string program = std::getenv("ALMANAC_SHEPHERD");
  ::setenv("ALMANAC_SHEPHERD", "/nowhere", 1);
  const JobNumber job = submit(shell("echo $ALMANAC_ATTEMPT >> log"));
  ASSERT_TRUE(eventually([&] { return service_->job(job)->why_word == "JobLaunchFailure"; }));
  EXPECT_TRUE(service_->requeue({job}, me_));
  ::setenv("ALMANAC_SHEPHERD", program.c_str(), 1);
  ASSERT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(text("log"), "1\n");
}

}  // namespace
}  // namespace almanac::machine
