// SPDX-License-Identifier: Apache-2.0

/// \file
/// Classes of jobs: who may choose a QOS, which jobs go first by their tiers, and which jobs stop
/// for them.
#include <fstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using testing::HasSubstr;
using trace::JobState;

class Tiers : public Box {
 protected:
  void begin_with_qos(const std::string& policy, int gpus) {
    Machine machine = made_up(gpus);
    machine.cluster.qos = {{.name = "high", .priority_tier = 1},
                           {.name = "urgent", .priority_tier = 2, .users = {"ann"}}};
    begin({.state = state(), .machine = std::move(machine), .policy = policy, .futures = 0});
  }
  store::Submission of_qos(const std::string& qos, const std::string& text, int gpus = 1) const {
    store::Submission asked = shell(text, gpus);
    asked.qos = qos;
    return asked;
  }
  static constexpr const char* kWait = "while [ ! -e go ]; do sleep 0.02; done";
};

TEST_F(Tiers, AQosIsForItsUsers) {
  begin_with_qos("fifo", 1);
  const auto refused = [&](const store::Submission& asked) {
    const auto done = service_->submit(asked);
    return done ? std::string("accepted") : to_string(done.error());
  };
  EXPECT_THAT(refused(of_qos("urgent", "true")), HasSubstr("user me may not use QOS urgent"));
  EXPECT_THAT(refused(of_qos("hgih", "true")), HasSubstr("no QOS is named hgih here"));
  EXPECT_EQ(refused(of_qos("high", "true")), "accepted");
  EXPECT_EQ(refused(of_qos("", "true")), "accepted");
}

TEST_F(Tiers, WithoutAnyAQosIsALabel) {
  begin("fifo", 1);
  EXPECT_TRUE(service_->submit(of_qos("whatever", "true")));
}

TEST_F(Tiers, TheHigherTierGoesFirst) {
  begin_with_qos("fifo", 1);
  const JobNumber first = submit(shell(kWait));
  ASSERT_TRUE(comes_to(first, JobState::running));
  const JobNumber low = submit(shell("echo low >> order"));
  const JobNumber high = submit(of_qos("high", "echo high >> order"));
  std::ofstream(folder_ / "work" / "go").put('\n');
  EXPECT_TRUE(comes_to(low, JobState::completed));
  EXPECT_TRUE(comes_to(high, JobState::completed));
  EXPECT_EQ(text("order"), "high\nlow\n");
}

TEST_F(Tiers, TheLowestThatMayBeStoppedStops) {
  begin_with_qos("fifo+by_rank", 2);
  const JobNumber may = submit(shell(kWait));
  store::Submission asked = shell(kWait);
  asked.requeue = trace::Requeue::no;
  const JobNumber may_not = submit(asked);
  ASSERT_TRUE(comes_to(may, JobState::running));
  ASSERT_TRUE(comes_to(may_not, JobState::running));
  const JobNumber high = submit(of_qos("high", kWait));
  EXPECT_TRUE(comes_to(high, JobState::running));
  EXPECT_EQ(look(may).state, JobState::pending);
  EXPECT_EQ(look(may).preemptions, 1);
  EXPECT_EQ(look(may_not).state, JobState::running) << "though it came last";
}

}  // namespace
}  // namespace almanac::machine
