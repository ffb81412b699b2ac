// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that the policy ends or turns away: trials of a sweep that report what they reach.
#include <chrono>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

class Trials : public Box {
 protected:
  /// Reports `metric` at its first step, and runs on until it is told to end; that takes it until
  /// the test lets it.
  store::Submission trial(const std::string& name, const std::string& metric) const {
    store::Submission asked =
        shell("trap 'until [ -e leave ]; do sleep 0.02; done; exit 1' TERM; echo " + name +
              " >> log; printf 'step 1\\nmetric " + metric +
              "\\n' >> $ALMANAC_PROGRESS; while :; do sleep 0.02; done");
    asked.name = name;
    asked.group = "search";
    asked.steps = 100;
    asked.grace = 50s;
    return asked;
  }
  void begin_asha() {
    begin({.state = state(),
           .machine = made_up(1),
           .policy = "asha:2:1:stop",
           .futures = 0,
           .measuring = {.every = 50ms}});
  }
  /// Two trials report and are cancelled: from then on there is a cut-off, at 0.85.
  void two_go_before() {
    for (const std::string metric : {"0.8", "0.9"}) {
      const JobNumber job = submit(trial(metric, metric));
      ASSERT_TRUE(eventually([&] { return service_->job(job)->metric.has_value(); }));
      ASSERT_TRUE(service_->cancel({job}, me_, true));
      ASSERT_TRUE(comes_to(job, JobState::cancelled));
    }
    ASSERT_EQ(text("log"), "0.8\n0.9\n");
  }
  void let_leave() { std::ofstream(folder_ / "work" / "leave").flush(); }
};

TEST_F(Trials, ThatTheirPolicyEndsGiveTheirGpuToTheNext) {
  begin_asha();
  two_go_before();
  const JobNumber poor = submit(trial("poor", "0.1"));
  ASSERT_TRUE(eventually([&] { return look(poor).reason == "ended by the policy"; }));
  EXPECT_EQ(service_->job(poor)->why, "is ended by the policy, and its process is about to end");
  const JobNumber next = submit(trial("next", "0.95"));
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(text("log"), "0.8\n0.9\npoor\n") << "the process of the other has the GPU still";
  let_leave();
  ASSERT_TRUE(comes_to(poor, JobState::cancelled));
  EXPECT_EQ(look(poor).reason, "ended by the policy");
  ASSERT_TRUE(eventually([&] { return text("log") == "0.8\n0.9\npoor\nnext\n"; }));
  ASSERT_TRUE(eventually([&] { return service_->job(next)->metric.has_value(); }));
  EXPECT_EQ(look(next).state, JobState::running);
}

TEST_F(Trials, AreComparedWithThoseThatEndedBeforeTheServiceBegan) {
  begin_asha();
  two_go_before();
  end();
  begin_asha();
  let_leave();
  const JobNumber poor = submit(trial("poor", "0.1"));
  EXPECT_TRUE(eventually([&] { return look(poor).reason == "ended by the policy"; }));
  ASSERT_TRUE(comes_to(poor, JobState::cancelled));
}

// The first trial is not among the better half of its rung, and rests. When the second one, which
// is, has gone, the third one has its turn: the first rests still, though the service is another.
TEST_F(Trials, ThatRestDoNotBeginAnewWithTheService) {
  const auto begin_service = [&] {
    begin({.state = state(),
           .machine = made_up(1),
           .policy = "asha:2:1",
           .futures = 0,
           .measuring = {.every = 50ms}});
  };
  begin_service();
  let_leave();
  const JobNumber first = submit(trial("first", "0.5"));
  const JobNumber second = submit(trial("second", "0.9"));
  const JobNumber third = submit(trial("third", "0.95"));
  ASSERT_TRUE(eventually([&] { return text("log") == "first\nsecond\n"; })) << text("log");
  ASSERT_TRUE(eventually([&] { return service_->job(second)->metric.has_value(); }));
  EXPECT_EQ(look(first).state, JobState::pending);
  end();
  begin_service();
  ASSERT_TRUE(service_->cancel({second}, me_, true));
  ASSERT_TRUE(eventually([&] { return look(third).state == JobState::running; }));
  EXPECT_TRUE(eventually([&] { return text("log") == "first\nsecond\nthird\n"; })) << text("log");
}

TEST_F(Trials, WithALossGoOnWhereItIsSmall) {
  begin_asha();
  const auto loses = [&](const std::string& loss) {
    store::Submission asked = trial(loss, loss);
    asked.smaller_is_better = true;
    return asked;
  };
  for (const std::string loss : {"0.2", "0.3"}) {
    const JobNumber job = submit(loses(loss));
    ASSERT_TRUE(eventually([&] { return service_->job(job)->metric.has_value(); }));
    ASSERT_TRUE(service_->cancel({job}, me_, true));
    ASSERT_TRUE(comes_to(job, JobState::cancelled));
  }
  const JobNumber poor = submit(loses("0.9"));
  EXPECT_TRUE(eventually([&] { return look(poor).reason == "ended by the policy"; }));
  let_leave();
  ASSERT_TRUE(comes_to(poor, JobState::cancelled));
}

TEST_F(Trials, AreKnownByWhatTheyReportedWhenTheyHaveEnded) {
  // Nobody looks at them while they run.
  begin({.state = state(), .machine = made_up(1), .futures = 0, .measuring = {.every = 1h}});
  store::Submission asked =
      shell("sleep 0.2; printf 'step 1\nmetric 0.5\nstep 2\nmetric 0.75\n' >> $ALMANAC_PROGRESS");
  asked.group = "search";
  const JobNumber job = submit(asked);
  ASSERT_TRUE(comes_to(job, JobState::completed));
  ASSERT_TRUE(eventually([&] { return !service_->store().reports("search")->empty(); }));
  const auto reports = service_->store().reports("search").value();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].job, job);
  EXPECT_EQ(reports[1].step, 2);
  EXPECT_EQ(reports[1].metric, 0.75);
}

TEST_F(Trials, ThatBeginAgainHaveReportedNothing) {
  begin_asha();
  let_leave();
  store::Submission asked = trial("one", "0.5");
  asked.argv.back().insert(0, "[ $ALMANAC_ATTEMPT = 1 ] || exec sleep 1000; ");
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return service_->job(job)->metric.has_value(); }));
  ASSERT_TRUE(service_->requeue({job}, me_));
  ASSERT_TRUE(eventually([&] {
    const store::Job now = look(job);
    return now.attempts == 2 && now.state == JobState::running;
  }));
  EXPECT_FALSE(service_->job(job)->metric.has_value());
}

TEST_F(Trials, ThatWereEndedStayEndedWhenTheServiceBeginsAnew) {
  begin_asha();
  two_go_before();
  const JobNumber poor = submit(trial("poor", "0.1"));
  ASSERT_TRUE(eventually([&] { return look(poor).reason == "ended by the policy"; }));
  end();
  begin_asha();
  EXPECT_EQ(look(poor).reason, "ended by the policy");
  let_leave();
  ASSERT_TRUE(comes_to(poor, JobState::cancelled));
  EXPECT_EQ(text("log"), "0.8\n0.9\npoor\n");
}

}  // namespace
}  // namespace almanac::machine
