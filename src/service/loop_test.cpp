// SPDX-License-Identifier: Apache-2.0

/// \file
/// The loop on a fake cluster, by a clock that only sleeps move.
#include "service/loop.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/inbox.h"
#include "service/renewal.h"
#include "support/fake_clock.h"

namespace almanac::service {
namespace {

using testing::ElementsAre;

/// Records its calls and their times, and does what the test wants done at its time.
class FakeCluster final : public Cluster {
 public:
  explicit FakeCluster(const Clock& clock) : clock_(clock), begun_(clock.wall()) {}

  void renew(bool is_asked) override {
    calls.push_back(is_asked ? "renew, as asked" : "renew");
    if (on_renew) on_renew();
  }
  void take_requests() override { calls.emplace_back("take requests"); }
  bool look() override {
    calls.emplace_back("look");
    looks.push_back(clock_.wall() - begun_);
    return answers;
  }
  void decide() override { calls.emplace_back("decide"); }
  void keep() override { calls.emplace_back("keep"); }
  bool act() override {
    calls.emplace_back("act");
    return left-- > 0;
  }
  void finish() override { calls.emplace_back("finish"); }
  Duration rest() const override { return pause; }
  void close() override { calls.emplace_back("close"); }

  std::vector<std::string> calls{};
  std::vector<Duration> looks{};  ///< Since the start.
  std::function<void()> on_renew{};
  Duration pause = 10s;
  bool answers = true;
  int left = 0;  ///< So often there is more to do.

 private:
  const Clock& clock_;
  Time begun_;
};

class LoopTest : public testing::Test {
 protected:
  void run_for(Duration time) {
    end_ = clock_.wall() + time;
    loop_.run(stop_);
  }

  process::Bell bell_;
  FakeClock clock_;
  Watchdog watchdog_{clock_};
  FakeCluster cluster_{clock_};
  std::atomic<bool> stop_ = false;
  Time end_{};
  std::vector<Duration> sleeps_;
  Loop loop_{cluster_, bell_, watchdog_, [this](const std::vector<int>&, Duration at_most) {
               sleeps_.push_back(at_most);
               clock_.advance(at_most);
               stop_ = clock_.wall() >= end_;
             }};
};

TEST_F(LoopTest, WritesWhatItDecidedBeforeItActs) {
  EXPECT_FALSE(loop_.step());
  EXPECT_THAT(cluster_.calls,
              ElementsAre("renew", "take requests", "look", "decide", "keep", "act", "finish"));
}

TEST_F(LoopTest, NeitherDecidesNorActsWhileTheClusterDoesNotAnswer) {
  cluster_.answers = false;
  cluster_.left = 5;
  EXPECT_FALSE(loop_.step());
  EXPECT_THAT(cluster_.calls, ElementsAre("renew", "take requests", "look", "keep", "finish"));
}

TEST_F(LoopTest, StepsAgainAtOnceWhileThereIsMoreToDo) {
  cluster_.left = 2;
  run_for(10s);
  EXPECT_THAT(cluster_.looks, ElementsAre(0s, 0s, 0s));
  EXPECT_THAT(sleeps_, ElementsAre(10s));
}

TEST_F(LoopTest, LooksAgainWhenTheClusterHasRested) {
  cluster_.pause = 30s;
  run_for(90s);
  EXPECT_THAT(cluster_.looks, ElementsAre(0s, 30s, 60s));
}

TEST_F(LoopTest, ClosesTheClusterOnceWhenItEnds) {
  run_for(20s);
  EXPECT_EQ(std::count(cluster_.calls.begin(), cluster_.calls.end(), "close"), 1);
  EXPECT_EQ(cluster_.calls.back(), "close");
}

TEST_F(LoopTest, PassesOnAReloadOnce) {
  loop_.reload();
  loop_.step();
  loop_.step();
  EXPECT_EQ(std::count(cluster_.calls.begin(), cluster_.calls.end(), "renew, as asked"), 1);
  EXPECT_EQ(cluster_.calls.front(), "renew, as asked");
}

// The next policy is made by another thread, whose bell ends the sleep of the loop.
TEST_F(LoopTest, WakesWhenANewPolicyIsReady) {
  Renewal<int> renewal(bell_);
  int policy = 1;
  cluster_.pause = 1h;
  cluster_.on_renew = [&] {
    if (const auto done = renewal.take()) {
      policy = *done->made;
      stop_ = true;
    } else if (!renewal.is_under_way()) {
      renewal.begin([] { return Result<int>(2); }, false);
    }
  };
  Loop(cluster_, bell_, watchdog_).run(stop_);
  EXPECT_EQ(policy, 2);
}

TEST_F(LoopTest, AnswersWhoAsksWhileItSleeps) {
  Inbox<int, int> inbox(bell_);
  cluster_.pause = 1h;
  cluster_.on_renew = [&] {
    for (auto& request : inbox.take_all()) {
      request.answer.set_value(request.asked + 1);
      stop_ = true;
    }
  };
  std::jthread loop([&] { Loop(cluster_, bell_, watchdog_).run(stop_); });
  EXPECT_EQ(inbox.ask(41).value(), 42);
}

}  // namespace
}  // namespace almanac::service
