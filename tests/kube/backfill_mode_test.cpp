// SPDX-License-Identifier: Apache-2.0

/// \file
/// Backfill mode: lever `order` in a StrictFIFO queue, with a reservation for the workload that the
/// queue waits for, and the alarm when nothing orders such a queue.
#include "admitter.h"
#include "kube/doctor.h"
#include "service_fixture.h"
#include "steer_kube/undo.h"

namespace almanac::steer_kube {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kNow = "2026-11-01T12:00:00Z";
constexpr const char* kUndo =
    R"(kubectl patch clusterqueue team-a --type merge -p '{"spec":{"queueingStrategy":"BestEffortFIFO"}}')";

/// Of the 8 GPUs of team-a, 4 are used until 13:00. The oldest that waits asks for all 8.
class BackfillModeTest : public KubeServiceTest {
 protected:
  void SetUp() override {
    KubeServiceTest::SetUp();
    set_strategy("StrictFIFO");
    Json runs = kube::workload("runs-a", "main", 4);
    runs["spec"]["maximumExecutionTimeSeconds"] = 7200;
    server_.create(kJobs, runs);
    server_.patch(kJobs + "/runs-a", kube::admitted("team-a", 4, "2026-11-01T11:00:00Z"));
    wait("big", 8, "2026-11-01T11:10:00Z", limit(3600));
    wait("slow", 3, "2026-11-01T11:20:00Z", limit(14400));
    wait("quick", 1, "2026-11-01T11:30:00Z", limit(1800));
  }
  static Json limit(int seconds) { return {{"spec", {{"maximumExecutionTimeSeconds", seconds}}}}; }
  void set_strategy(const char* strategy) {
    server_.patch(kube::kKueueApi + "/clusterqueues/team-a",
                  {{"spec", {{"queueingStrategy", strategy}}}});
  }
  void open_backfilled() {
    open(service::Switch::on, {.backfill = {"team-a"}});
    ASSERT_TRUE(comes([&] { return priority("quick") == 2; }));
  }
  bool has_backfill() { return service_->manager()->levers.size() > 1; }
  service::LeverView backfill() { return service_->manager()->levers.at(1); }
  /// The service as it is killed: it releases nothing.
  void kill() { service_.reset(); }
};

TEST_F(BackfillModeTest, WithoutUsAStrictQueueWaitsForItsFirst) {
  EXPECT_THAT(kube::admit(server_, kNow), IsEmpty());
}

// 4 GPUs are free until 13:00, when big starts: quick ends by then, slow does not.
TEST_F(BackfillModeTest, WhatDelaysNobodyGoesBeforeTheFirst) {
  open_backfilled();
  go_on();
  EXPECT_EQ(priority("big"), 0) << "it is older than slow, and so before it as it is";
  EXPECT_EQ(priority("slow"), 0);
  EXPECT_THAT(kube::admit(server_, kNow), ElementsAre("a/quick"));
  go_on();
  EXPECT_THAT(kube::admit(server_, kNow), IsEmpty()) << "big waits, and slow behind it";
  EXPECT_THAT(service_->overview().warnings, Not(Contains(HasSubstr("StrictFIFO"))));
  EXPECT_EQ(backfill().rests, "");
}

// A short one of 8 that came later is the head, because it has the least GPU time of those that do
// not fit. Its rank keeps the older ones from passing it.
TEST_F(BackfillModeTest, TheHeadIsTheFirstOfAlmanacsOrderThatDoesNotFit) {
  wait("short-big", 8, "2026-11-01T11:40:00Z", limit(600));
  open_backfilled();
  ASSERT_TRUE(comes([&] { return priority("short-big") == 1; }));
  EXPECT_EQ(priority("big"), 0);
  server_.remove(kJobs + "/runs-a");
  server_.remove(kJobs + "/quick");
  EXPECT_THAT(kube::admit(server_, kNow), ElementsAre("a/short-big"));
}

// Kueue would try it first for ever.
TEST_F(BackfillModeTest, WhatCanNeverStartIsPassed) {
  wait("huge", 64, "2026-11-01T11:05:00Z", limit(60));
  open_backfilled();
  ASSERT_TRUE(comes([&] { return priority("big") == 1; }));
  EXPECT_THAT(kube::admit(server_, kNow), ElementsAre("a/quick"));
  server_.remove(kJobs + "/runs-a");
  server_.remove(kJobs + "/quick");
  EXPECT_THAT(kube::admit(server_, kNow), ElementsAre("a/big"));
}

TEST_F(BackfillModeTest, OnlyQueuesThatAreNamedAreOrdered) {
  open(service::Switch::on);
  go_on();
  EXPECT_EQ(priority("quick"), 0);
  EXPECT_THAT(service_->overview().warnings, Contains(HasSubstr("--backfill does not name it")));
  EXPECT_FALSE(has_backfill());
  const auto refused = try_open(service::Switch::on, {.backfill = {"team-x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::usage);
}

TEST_F(BackfillModeTest, ABestEffortQueueIsOrderedWithoutAlarm) {
  set_strategy("BestEffortFIFO");
  open(service::Switch::on, {.backfill = {"team-a"}});
  // Kueue looks at big first, which is set aside, and then at slow.
  ASSERT_TRUE(comes([&] { return priority("quick") == 3; }));
  EXPECT_FALSE(has_backfill()) << "no queue waits for an order";
  wait("short-big", 8, "2026-11-01T11:40:00Z", limit(600));
  go_on();
  EXPECT_EQ(priority("short-big"), 0) << "Kueue tries the others after quick anyway";
  set_strategy("StrictFIFO");
  EXPECT_TRUE(comes([&] { return priority("short-big") == 1; }));
}

TEST_F(BackfillModeTest, AnAlarmNamesTheQueueTheReasonAndTheCommand) {
  open_backfilled();
  server_.patch(kube::kKueueApi + "/clusterqueues/team-a",
                {{"spec", {{"preemption", {{"withinClusterQueue", "LowerPriority"}}}}}});
  ASSERT_TRUE(comes([&] { return !backfill().rests.empty(); }));
  EXPECT_THAT(backfill().rests,
              AllOf(HasSubstr("queue team-a is StrictFIFO and Almanac does not order it"),
                    HasSubstr(kUndo), HasSubstr("could evict running workloads")));
  EXPECT_THAT(service_->overview().warnings, Contains(backfill().rests));
  set_strategy("BestEffortFIFO");
  EXPECT_TRUE(comes([&] { return !has_backfill(); }));
}

TEST_F(BackfillModeTest, ADryLeverIsAnAlarm) {
  open(service::Switch::dry, {.backfill = {"team-a"}});
  EXPECT_THAT(backfill().rests, HasSubstr("lever order is dry"));
}

TEST_F(BackfillModeTest, TheDoctorSeesThatAServiceHasDied) {
  open_backfilled();
  kube::Client by_hand = client();
  const auto found = [&](const std::string& what) {
    const auto diagnosis = kube::diagnose(by_hand);
    for (const kube::Finding& each : diagnosis->findings) {
      if (each.what == what) return each;
    }
    return kube::Finding{.what = "nothing"};
  };
  const std::string what = "backfill of queue team-a";
  EXPECT_EQ(found(what).verdict, Verdict::fine);
  EXPECT_THAT(found(what).means, HasSubstr("whether the queue gets its order"));
  EXPECT_EQ(found("queue team-a").found, "StrictFIFO");
  kill();
  server_.date = "Sun, 01 Nov 2026 12:00:20 GMT";
  EXPECT_EQ(found(what).verdict, Verdict::broken) << "the Lease lasts 15 s";
  EXPECT_THAT(found(what).to_do, HasSubstr(kUndo));
  set_strategy("BestEffortFIFO");
  EXPECT_EQ(found(what).what, "nothing");
}

TEST_F(BackfillModeTest, UndoNamesTheQueuesThatItLeavesAlone) {
  open_backfilled();
  stop();
  kube::Client by_hand = client();
  const auto done = undo({.state = folder_ / "state"}, by_hand);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 1);
  EXPECT_THAT(done->alone, ElementsAre("team-a"));
  EXPECT_EQ(priority("quick"), 0);
  EXPECT_EQ(priority("big"), 0);
}

}  // namespace
}  // namespace almanac::steer_kube
