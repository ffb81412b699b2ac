// SPDX-License-Identifier: Apache-2.0

/// \file
/// Maintenance that is announced, commands of the site that hear of jobs, and environments that are
/// kept no longer than they are needed.
#include <chrono>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using testing::HasSubstr;
using trace::JobState;

class Announced : public Box {
 protected:
  std::int64_t announce(Duration from, Duration to) {
    const Time now = wall_clock();
    return service_->announce({.from = now + from, .to = now + to, .why = "driver"}, me_).value();
  }
  store::Submission of_length(Duration limit) {
    store::Submission asked = shell("true");
    asked.time_limit = limit;
    return asked;
  }
};

TEST_F(Announced, ForeseesThatAJobStartsAfterMaintenance) {
  begin("fifo", 1, 16);
  announce(1h, 2h);
  const Time over = wall_clock() + 2h;
  const auto kept = service_->expect(submit(shell("true")), 30s);
  ASSERT_TRUE(kept) << "it has no limit, and the policy does not know it";
  EXPECT_GE(kept->start_from, over - 1min);
}

TEST_F(Announced, ForeseesThatTasksFollowEachOtherAfterMaintenance) {
  begin("fifo", 2, 16);
  announce(1h, 2h);
  store::Submission asked = of_length(3h);
  asked.indices = {1, 2};
  asked.at_once = 1;
  const auto tasks = service_->submit(asked).value();
  const auto first = service_->expect(tasks[0], 30s);
  const auto second = service_->expect(tasks[1], 30s);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_GT(second->start_from, first->start_from) << "though two GPUs are free";
}

TEST_F(Announced, StartsNothingThatWouldRunIntoMaintenance) {
  begin();
  const std::int64_t number = announce(1h, 2h);
  EXPECT_TRUE(comes_to(submit(of_length(30min)), JobState::completed));
  const JobNumber longer = submit(of_length(3h));
  const JobNumber unlimited = submit(shell("true"));
  EXPECT_TRUE(comes_to(submit(of_length(30min)), JobState::completed));
  EXPECT_EQ(look(longer).state, JobState::pending);
  EXPECT_EQ(look(unlimited).state, JobState::pending);
  EXPECT_THAT(service_->job(longer)->why, HasSubstr("might run into the maintenance"));
  EXPECT_THAT(service_->job(unlimited)->why,
              HasSubstr("has no time limit, so it might not end before the maintenance"));
  EXPECT_THAT(service_->explain(longer, service::Eyes::owner).value().front(),
              HasSubstr("(driver)"));
  end();
  begin();
  ASSERT_EQ(service_->maintenance().size(), 1U) << "also for the next service";
  EXPECT_EQ(look(longer).state, JobState::pending);
  ASSERT_TRUE(service_->call_off(number, me_));
  EXPECT_TRUE(comes_to(longer, JobState::completed));
  EXPECT_TRUE(comes_to(unlimited, JobState::completed));
  EXPECT_FALSE(service_->call_off(number, me_));
}

TEST_F(Announced, TakesOutOfTheQueueWhatWaitsThere) {
  begin("fifo", 1);
  const JobNumber runs = submit(shell("sleep 1000"));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const JobNumber waits = submit(shell("true"));
  ASSERT_TRUE(eventually([&] { return service_->job(waits)->place == 1; }));
  announce(-1s, 1h);
  ASSERT_TRUE(service_->cancel({runs}, me_, false));
  ASSERT_TRUE(comes_to(runs, JobState::cancelled)) << "what runs is not ended by it";
  EXPECT_EQ(look(waits).state, JobState::pending);
  EXPECT_EQ(service_->job(waits)->why_word, "Maintenance");
}

TEST_F(Announced, StartsWhatHasWaitedWhenMaintenanceIsOver) {
  begin();
  announce(-1s, 500ms);
  const JobNumber job = submit(shell("true"));
  EXPECT_TRUE(comes_to(job, JobState::completed));
  EXPECT_TRUE(service_->maintenance().empty());
}

TEST_F(Announced, IsForOperatorsAndOfTimeToCome) {
  begin();
  const Time now = wall_clock();
  EXPECT_FALSE(service_->announce({.from = now, .to = now + 1h}, {.uid = 4321}));
  EXPECT_FALSE(service_->announce({.from = now + 1h, .to = now}, me_));
  EXPECT_FALSE(service_->announce({.from = now - 2h, .to = now - 1h}, me_));
}

class Told : public Box {
 protected:
  std::vector<Hook> hooks(const std::string& text) {
    std::ofstream(folder_ / "hooks.toml") << text;
    const auto read = read_hooks((folder_ / "hooks.toml").string());
    EXPECT_TRUE(read) << to_string(read.error());
    return read.value_or(std::vector<Hook>{});
  }
};

TEST_F(Told, CommandsOfTheSiteHearOfJobs) {
  const std::string to = (folder_ / "work" / "heard").string();
  Config config{.state = state(), .machine = made_up(4), .policy = "fifo", .futures = 0};
  config.hooks = hooks(
      "[[hook]]\non = [\"FAILED\"]\ncommand = 'echo \"$ALMANAC_JOB_ID "
      "$ALMANAC_USER $ALMANAC_STATE $ALMANAC_REASON: $ALMANAC_JOB_COMMENT\" >> " +
      to + "'\n" + "[[hook]]\nusers = [\"ann\"]\ncommand = 'echo ann >> " + to + "'\n" +
      "[[hook]]\non = [\"started\"]\ncommand = 'echo begins >> " + to + "'\n" +
      "[[hook]]\non = [\"CANCELLED\"]\ncommand = 'echo gone >> " + to + "'\n");
  begin(std::move(config));
  store::Submission fails = shell("exit 3");
  fails.comment = "take 2; $(touch evil)";
  EXPECT_TRUE(comes_to(submit(fails), JobState::failed));
  EXPECT_TRUE(eventually([&] {
    return text("heard") == "begins\n1 me FAILED FAILED: exit status 3: take 2; $(touch evil)\n";
  })) << text("heard");
  store::Submission held = shell("true");
  held.hold = true;
  ASSERT_TRUE(service_->cancel({submit(held)}, me_, false));
  EXPECT_TRUE(eventually([&] { return text("heard").ends_with("gone\n"); })) << "it never ran";
}

TEST_F(Told, CommandsHearTheStateOfThenThoughItIsAnotherByNow) {
  Config config{.state = state(), .machine = made_up(4), .policy = "fifo", .futures = 0};
  config.retry_pause = 1h;
  config.hooks = hooks("[[hook]]\ncommand = 'echo \"$ALMANAC_EVENT $ALMANAC_STATE\" >> " +
                       (folder_ / "work" / "heard").string() + "'\n");
  begin(std::move(config));
  store::Submission asked = shell("exit 3");
  asked.retries = 1;
  submit(asked);
  EXPECT_TRUE(eventually([&] { return text("heard") == "started RUNNING\nrequeued PENDING\n"; }))
      << text("heard");
}

TEST_F(Told, SaysWhatIsWrongWithAFileOfHooks) {
  std::ofstream(folder_ / "hooks.toml") << "[[hook]]\non = [\"ende\"]\ncommand = 'true'\n";
  const auto read = read_hooks((folder_ / "hooks.toml").string());
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("hooks.toml:1"));
  EXPECT_THAT(read.error().message, HasSubstr("not ende"));
}

TEST_F(Told, EnvironmentsGoWhenAJobIsNotRunAgain) {
  begin();
  store::Submission asked = shell("true");
  asked.environment.emplace_back("SECRET=opensesame");
  const JobNumber ended = submit(asked);
  ASSERT_TRUE(comes_to(ended, JobState::completed));
  asked.hold = true;
  asked.environment.back() = "SECRET=another";
  const JobNumber waits = submit(asked);
  EXPECT_TRUE(service_->requeue({ended}, me_));
  ASSERT_TRUE(eventually([&] { return look(ended).attempts == 2; }));
  ASSERT_TRUE(comes_to(ended, JobState::completed));
  end();
  Config config{.state = state(), .machine = made_up(4), .policy = "fifo", .futures = 0};
  config.requeue_for = 0ms;
  begin(std::move(config));
  const auto environment = [&](JobNumber job) {
    return service_->store().job(job).value()->asked->environment;
  };
  EXPECT_TRUE(eventually([&] { return environment(ended).empty(); }));
  EXPECT_FALSE(environment(waits).empty());
  const auto again = service_->requeue({ended}, me_);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("its environment has been deleted"));
  end();
  std::ifstream file(state() + "/almanac.db", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes.find("opensesame"), std::string::npos) << "it is overwritten";
  EXPECT_NE(bytes.find("SECRET=another"), std::string::npos);
}

}  // namespace
}  // namespace almanac::machine
