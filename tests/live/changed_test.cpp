// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that are changed after they were submitted, tried again when they fail, warned before they
/// are ended, and submitted twice by a client that heard no answer.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using testing::HasSubstr;
using trace::JobState;

class Changed : public Box {
 protected:
  Result<void> update(JobNumber job, const store::Amended& wanted, bool as_operator = true) {
    return service_->update({job}, wanted, {.uid = ::geteuid(), .may_all = as_operator});
  }
};

TEST_F(Changed, AJobThatWaitsAsksWhatItIsChangedTo) {
  begin("fifo", 4);
  const JobNumber first = submit(shell("sleep 1000", 3));
  ASSERT_TRUE(comes_to(first, JobState::running));
  const JobNumber waits = submit(shell("sleep 1000", 2));
  ASSERT_TRUE(update(waits, {.gpus = 1, .time_limit = 1h}));
  ASSERT_TRUE(comes_to(waits, JobState::running));
  EXPECT_EQ(look(waits).asked->gpus, 1);
  EXPECT_EQ(look(waits).asked->time_limit, 1h);
  end();
  begin("fifo", 4);
  EXPECT_EQ(look(waits).asked->gpus, 1) << "for good";
  EXPECT_EQ(look(waits).asked->time_limit, 1h);
  const auto never = update(submit(shell("true", 4)), {.gpus = 5});
  ASSERT_FALSE(never);
  EXPECT_THAT(never.error().message, HasSubstr("could never run here then"));
}

TEST_F(Changed, AJobInNvlinkGroupsAsksForWholeGroupsOnly) {
  begin("fifo", 4);
  store::Submission asked = shell("sleep 1000", 4);
  asked.nvlink_gpus = 2;
  asked.hold = true;
  const JobNumber job = submit(asked);
  const auto refused = update(job, {.gpus = 3});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("must run on a multiple of 2 GPUs"));
  ASSERT_TRUE(update(job, {.gpus = 2}));
  ASSERT_TRUE(service_->release({job}, me_));
  EXPECT_TRUE(comes_to(job, JobState::running));
  asked.gpus = asked.nvlink_gpus = 8;
  const auto never = service_->submit(asked);
  EXPECT_FALSE(never) << "no node is as large";
}

TEST_F(Changed, OfARunningJobOnlyAnOperatorMakesTheLimitLonger) {
  begin();
  store::Submission asked = shell("sleep 1000");
  asked.time_limit = 1h;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(comes_to(job, JobState::running));
  EXPECT_FALSE(update(job, {.gpus = 2}));
  EXPECT_FALSE(update(job, {.time_limit = 2h}, false));
  EXPECT_TRUE(update(job, {.time_limit = 2h}, true));
  EXPECT_EQ(look(job).asked->time_limit, 2h);
  EXPECT_TRUE(update(job, {.time_limit = 100ms}, false));
  EXPECT_TRUE(comes_to(job, JobState::timeout));
}

TEST_F(Changed, UsersAreKeptByTheirLimitsAndOperatorsAreNot) {
  Config config{.state = state(), .machine = made_up(4), .policy = "fifo", .futures = 0};
  config.limits.user.time = 2h;
  begin(std::move(config));
  store::Submission asked = shell("true");
  asked.hold = true;
  const JobNumber job = submit(asked);
  const auto refused = update(job, {.time_limit = 3h}, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("may run for"));
  EXPECT_TRUE(update(job, {.time_limit = 3h}, true));
}

TEST_F(Changed, AllTasksOfAnArrayAreOrNone) {
  begin("fifo", 4);
  store::Submission asked = shell("true");
  asked.hold = true;
  asked.indices = {1, 2, 3};
  const auto numbers = service_->submit(asked).value();
  EXPECT_FALSE(service_->update(numbers, {.gpus = 5}, me_));
  EXPECT_EQ(look(numbers[0]).asked->gpus, 1);
  ASSERT_TRUE(service_->update(numbers, {.gpus = 2}, me_));
  ASSERT_TRUE(service_->update({numbers[1]}, {.gpus = 3}, me_));
  end();
  begin("fifo", 4);
  EXPECT_EQ(look(numbers[0]).asked->gpus, 2);
  EXPECT_EQ(look(numbers[1]).asked->gpus, 3);
  EXPECT_EQ(look(numbers[2]).asked->gpus, 2);
}

TEST_F(Changed, AnArrayRunsAsManyTasksAtOnceAsItIsChangedTo) {
  begin("fifo", 4);
  store::Submission asked = shell("sleep 1000");
  asked.indices = {1, 2, 3, 4};
  asked.at_once = 1;
  const auto numbers = service_->submit(asked).value();
  const auto running = [&] {
    return std::count_if(numbers.begin(), numbers.end(),
                         [&](JobNumber each) { return look(each).state == JobState::running; });
  };
  ASSERT_TRUE(comes_to(numbers[0], JobState::running));
  EXPECT_THAT(service_->job(numbers[1])->why, HasSubstr("limit of running tasks"));
  const auto of_one = update(numbers[1], {.at_once = 3});
  ASSERT_FALSE(of_one);
  EXPECT_THAT(of_one.error().message, HasSubstr("the limit is of all its tasks"));
  ASSERT_TRUE(service_->update(numbers, {.at_once = 3}, me_));
  ASSERT_TRUE(comes_to(numbers[2], JobState::running));
  EXPECT_EQ(running(), 3);
  end();
  begin("fifo", 4);
  ASSERT_TRUE(eventually([&] {
    return service_->job(numbers[3])->why_word == "JobArrayTaskLimit";
  })) << "for good";
  EXPECT_EQ(running(), 3);
  EXPECT_EQ(look(numbers[3]).task->at_once, 3);
  ASSERT_TRUE(service_->update(numbers, {.at_once = 0}, me_));
  ASSERT_TRUE(comes_to(numbers[3], JobState::running));
  const auto refused = update(submit(shell("true")), {.at_once = 2});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is no array"));
}

TEST_F(Changed, AnArrayWithoutALimitGetsOne) {
  begin("fifo", 2);
  store::Submission asked = shell("sleep 1000");
  asked.indices = {1, 2, 3};
  const auto numbers = service_->submit(asked).value();
  ASSERT_TRUE(comes_to(numbers[1], JobState::running));
  ASSERT_TRUE(service_->update(numbers, {.at_once = 1}, me_));
  ASSERT_TRUE(service_->cancel({numbers[0]}, me_, false));
  ASSERT_TRUE(comes_to(numbers[0], JobState::cancelled));
  EXPECT_TRUE(eventually([&] {
    return service_->job(numbers[2])->why_word == "JobArrayTaskLimit";
  })) << "one task runs, and a GPU is free";
  ASSERT_TRUE(service_->cancel({numbers[1]}, me_, false));
  EXPECT_TRUE(comes_to(numbers[2], JobState::running));
}

TEST_F(Changed, AJobThatFailsIsTriedAgainAsOftenAsItAsks) {
  Config config{.state = state(), .machine = made_up(4), .policy = "fifo", .futures = 0};
  config.retry_pause = 20ms;
  begin(std::move(config));
  store::Submission asked = shell("echo $ALMANAC_ATTEMPT >> tries; [ $ALMANAC_ATTEMPT = 3 ]");
  asked.retries = 2;
  const JobNumber third = submit(asked);
  EXPECT_TRUE(comes_to(third, JobState::completed));
  EXPECT_EQ(text("tries"), "1\n2\n3\n");
  asked = shell("echo x >> fails; exit 3");
  asked.retries = 2;
  const JobNumber never = submit(asked);
  EXPECT_TRUE(comes_to(never, JobState::failed));
  EXPECT_EQ(text("fails"), "x\nx\nx\n");
  EXPECT_EQ(look(never).failures, 2);
  EXPECT_EQ(look(never).exit_status, 3);
  asked = shell("sleep 1000");
  asked.retries = 2;
  const JobNumber cancelled = submit(asked);
  ASSERT_TRUE(comes_to(cancelled, JobState::running));
  ASSERT_TRUE(service_->cancel({cancelled}, me_, false));
  EXPECT_TRUE(comes_to(cancelled, JobState::cancelled)) << "that is no failure";
}

TEST_F(Changed, WhatFailedWaitsBeforeItIsTriedAgainAlsoForTheNextService) {
  begin();
  store::Submission asked = shell("exit 1");
  asked.retries = 1;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return look(job).failures == 1; }));
  EXPECT_EQ(look(job).state, JobState::pending);
  EXPECT_THAT(service_->job(job)->why, HasSubstr("next try at"));
  end();
  begin();
  EXPECT_EQ(look(job).state, JobState::pending);
  EXPECT_EQ(look(job).failures, 1);
  ASSERT_TRUE(service_->cancel({job}, me_, false));
}

TEST_F(Changed, WhatMakesRoomHearsTheSignalThatItAsked) {
  begin("srtf+limit", 1);
  store::Submission asked = shell(
      "trap 'echo usr1 >> heard; exit 0' USR1; trap 'echo term >> heard; exit 0' TERM; "
      "touch ready; while :; do sleep 0.05; done");
  asked.time_limit = 10h;
  asked.warn_signal = SIGUSR1;
  const JobNumber longer = submit(asked);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ / "work" / "ready"); }));
  store::Submission brief = shell("true");
  brief.time_limit = 1min;
  EXPECT_TRUE(comes_to(submit(brief), JobState::completed));
  EXPECT_EQ(text("heard").substr(0, 5), "usr1\n");
  EXPECT_EQ(look(longer).preemptions, 1);
}

TEST_F(Changed, WhatIsSubmittedTwiceWithAKeyIsOneJob) {
  begin();
  store::Submission asked = shell("true");
  asked.hold = true;
  asked.key = "k1";
  asked.indices = {1, 2};
  const auto numbers = service_->submit(asked);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(service_->submit(asked).value(), *numbers);
  end();
  begin();
  EXPECT_EQ(service_->submit(asked).value(), *numbers) << "after a restart too";
  asked.key = "k2";
  EXPECT_NE(service_->submit(asked).value(), *numbers);
  asked.key = "";
  EXPECT_NE(service_->submit(asked).value(), service_->submit(asked).value());
}

TEST_F(Changed, WhatIsSubmittedTwiceAtOnceWithAKeyIsOneJob) {
  begin();
  store::Submission asked = shell("sleep 1000");
  asked.key = "same";
  std::vector<std::thread> clients;
  std::vector<JobNumber> numbers(8);
  for (JobNumber& each : numbers) {
    clients.emplace_back([&, to = &each] { *to = service_->submit(asked).value().front(); });
  }
  for (std::thread& each : clients) each.join();
  EXPECT_THAT(numbers, testing::Each(numbers.front()));
}

}  // namespace
}  // namespace almanac::machine
