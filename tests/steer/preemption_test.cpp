// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever preemption, and placement beside it: which job is stopped, which has its place, and
/// when, under leases too.
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "desk.h"

namespace almanac::steer {
namespace {

using manager::State;

Settings with_placement_and_preemption() {
  Settings made = with("placement");
  made.levers["preemption"] = Switch::on;
  made.preemption.once_in = 1min;
  return made;
}

/// A node that a long job fills, and a short one that waits.
FakeSlurm full() {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  slurm.submit("ann", 8, 100h);
  slurm.pass(1s);
  slurm.pass(2h);
  slurm.submit("bob", 8, 1min);
  return slurm;
}

TEST(Preemption, RequeuesJobsThatThePolicyStopsAndOnlyOnceInAWhile) {
  FakeSlurm slurm = full();
  Desk desk(slurm, "srtf+limit", with("preemption"));
  desk.step();
  EXPECT_EQ(slurm.job(1).state, State::pending);
  EXPECT_EQ(slurm.job(1).restarts, 1);
  slurm.job(1).start = kNoTime;
  slurm.job(1).site_factor = -1;
  slurm.pass(1s);
  EXPECT_EQ(slurm.job(2).state, State::running);
  desk.step();
  slurm.pass(2min);
  ASSERT_EQ(slurm.job(1).state, State::running);
  slurm.submit("bob", 8, 1min);
  desk.step();
  EXPECT_EQ(slurm.job(1).state, State::running) << "it has just begun anew";
}

/// Begun at a lease's beginning, by the controller's clock.
FakeSlurm full_at_a_lease() {
  FakeSlurm slurm = full();
  const Duration since = slurm.now.time_since_epoch();
  slurm.now += 10min - since % 10min;
  return slurm;
}

TEST(PlacementWithLeases, HoldsJobsThatWereStoppedAndThatComeUntilTheNextLease) {
  FakeSlurm slurm = full_at_a_lease();
  Desk desk(slurm, "srtf+limit+lease:600", with_placement_and_preemption());
  desk.step();
  ASSERT_EQ(slurm.job(1).state, State::pending) << "makes room";
  slurm.pass(1s);
  desk.step();
  EXPECT_TRUE(slurm.is_held(1));
  slurm.pass(1s);
  ASSERT_EQ(slurm.job(2).state, State::running) << "for the short one";
  slurm.submit("bob", 8, 1min);
  slurm.pass(2min);  // the short one has ended, the one that was stopped may start again
  ASSERT_EQ(slurm.job(3).state, State::running) << "which comes when we do not look";
  slurm.submit("bob", 8, 30min);
  desk.step();
  EXPECT_TRUE(slurm.is_held(4)) << "and is not to start within the lease";
  desk.wait(2min);
  slurm.pass(1s);
  EXPECT_EQ(slurm.job(1).state, State::pending);
  EXPECT_EQ(slurm.job(4).state, State::pending);
  desk.wait(10min);
  slurm.pass(1s);
  EXPECT_EQ(slurm.job(4).state, State::running) << "as the next lease begins";
  EXPECT_TRUE(slurm.is_held(1));
}

TEST(PlacementWithLeases, ReleasesNoJobOntoOneThatIsNotStopped) {
  FakeSlurm slurm = full_at_a_lease();
  slurm.job(1).requeueable = false;
  for (const std::string policy : {"srtf+limit+lease:600", "srtf+limit"}) {
    FakeSlurm here = slurm;
    Desk desk(here, policy, with_placement_and_preemption());
    for (int step = 0; step < 40; ++step) {
      desk.step();
      here.pass(10s);
      EXPECT_TRUE(here.is_held(2)) << policy;
      ASSERT_EQ(here.job(2).required_nodes, "");
    }
    here.job(1).state = State::ended;
    here.job(1).end = here.now;
    here.pass(10min);
    desk.live(2);
    EXPECT_EQ(here.job(2).state, State::running) << policy;
  }
}

TEST(Preemption, StopsARunOnlyOnceInALease) {
  FakeSlurm slurm = full_at_a_lease();
  Settings settings = with("preemption");
  settings.preemption.once_in = 1min;
  Desk desk(slurm, "srtf+limit+lease:600", settings);
  desk.step();
  ASSERT_EQ(slurm.job(1).restarts, 1);
  slurm.job(2).state = State::ended;
  slurm.job(2).end = slurm.now;
  for (int step = 0; step < 30; ++step) {
    slurm.pass(10s);
    desk.step();
  }
  EXPECT_EQ(slurm.job(1).state, State::running) << "Slurm has started it again";
  EXPECT_EQ(slurm.job(1).restarts, 1);
}

TEST(Preemption, LeavesAloneJobsThatMayNotBeRequeuedOrAreExempt) {
  FakeSlurm slurm = full();
  slurm.job(1).requeueable = false;
  Desk desk(slurm, "srtf+limit", with("preemption"));
  desk.step();
  EXPECT_EQ(slurm.job(1).state, State::running);
  slurm.job(1).requeueable = true;
  Settings settings = with("preemption");
  settings.exempt.users = {"ann"};
  Desk other(slurm, "srtf+limit", settings);
  other.step();
  EXPECT_EQ(slurm.job(1).state, State::running);
}

/// Two nodes, four GPUs of each held: by job 1 for two hours, by job 3 for one minute.
FakeSlurm spread() {
  FakeSlurm slurm;
  slurm.add_partition("v", 2, 8);
  slurm.submit("ann", 4, 100h);
  slurm.submit("eve", 4, 119min);
  slurm.pass(1s);
  slurm.pass(118min);
  slurm.submit("bob", 4, 100h);
  slurm.pass(1s);
  slurm.pass(1min);
  EXPECT_EQ(slurm.job(1).holds.front().node, "v001");
  EXPECT_EQ(slurm.job(3).holds.front().node, "v002");
  EXPECT_EQ(slurm.job(2).state, State::ended);
  slurm.submit("kim", 8, 1h);
  return slurm;
}

TEST(Moves, RequeueTheJobThatLosesLeastSoThatOneThatWaitsHasANode) {
  FakeSlurm slurm = spread();
  Desk desk(slurm, "fifo+defragment", with_placement_and_preemption());
  desk.live(6);
  EXPECT_EQ(slurm.job(1).restarts, 0);
  EXPECT_EQ(slurm.job(3).restarts, 1);
  ASSERT_EQ(slurm.job(4).state, State::running);
  EXPECT_EQ(slurm.job(4).holds.front().node, "v002");
  desk.wait(5min);
  ASSERT_EQ(slurm.job(3).state, State::running);
  EXPECT_EQ(slurm.job(3).holds.front().node, "v001") << "beside the other";
}

TEST(Moves, LoseNoMoreThanThePolicyIsTold) {
  FakeSlurm slurm = spread();
  Desk desk(slurm, "fifo+defragment:20", with_placement_and_preemption());
  desk.live(6);  // 4 GPUs for 70 s are more than 20 s for each of 8
  EXPECT_EQ(slurm.job(3).restarts, 0);
  EXPECT_EQ(slurm.job(4).state, State::pending);
}

TEST(Moves, AreOfJobsThatMayBeRequeuedAndWereNotBefore) {
  const auto moved = [](const auto& change, Settings settings = with_placement_and_preemption()) {
    FakeSlurm slurm = spread();
    change(slurm.job(3));
    Desk desk(slurm, "fifo+defragment:1000000", std::move(settings));
    desk.live(6);
    return std::pair(slurm.job(1).restarts, slurm.job(3).restarts);
  };
  EXPECT_EQ(moved([](manager::Job&) {}), std::pair(0, 1));
  EXPECT_EQ(moved([](manager::Job& job) { job.requeueable = false; }), std::pair(1, 0));
  EXPECT_EQ(moved([](manager::Job& job) { job.restarts = 1; }), std::pair(1, 1));
  EXPECT_EQ(moved([](manager::Job& job) { job.features = "nvlink"; }), std::pair(1, 0));
  Settings exempt = with_placement_and_preemption();
  exempt.exempt.users = {"bob"};
  EXPECT_EQ(moved([](manager::Job&) {}, exempt), std::pair(1, 0));
}

Settings with_suspension() {
  Settings made = with("preemption");
  made.preemption.suspends = true;
  return made;
}

TEST(Preemption, SuspendsJobsWithoutGpusAndResumesThemWhenThereIsRoom) {
  FakeSlurm slurm = full();
  slurm.job(1).gpus = 0;
  Desk desk(slurm, "srtf+limit", with_suspension());
  desk.step();
  ASSERT_EQ(slurm.job(1).state, State::suspended);
  manager::Job& other = slurm.job(2);
  slurm.now += 10s;
  other.state = State::running;
  other.start = slurm.now;
  other.holds = slurm.job(1).holds;
  slurm.now += 10min;
  desk.step();
  EXPECT_EQ(slurm.job(1).state, State::suspended) << "its place is taken";
  other.state = State::ended;
  other.end = slurm.now;
  desk.step();
  EXPECT_EQ(slurm.job(1).state, State::running);
}

TEST(Preemption, ResumesAllWhenItIsTurnedOff) {
  FakeSlurm slurm = full();
  slurm.job(1).gpus = 0;
  Desk desk(slurm, "srtf+limit", with_suspension());
  desk.step();
  ASSERT_EQ(slurm.job(1).state, State::suspended);
  desk.open();
  desk.set(Switch::off);
  desk.step();
  EXPECT_EQ(slurm.job(1).state, State::running);
}

TEST(Preemption, SaysWhichJobsItCannotResumeByThisWay) {
  FakeSlurm slurm = full();
  slurm.job(1).gpus = 0;
  Desk desk(slurm, "srtf+limit", with_suspension());
  desk.step();
  slurm.requeues = false;
  desk.open();
  desk.set(Switch::off);
  desk.step();
  EXPECT_EQ(slurm.job(1).state, State::suspended);
  EXPECT_EQ(desk.state().failed, 0U) << "nothing is tried in vain";
  ASSERT_EQ(desk.driver().warnings().size(), 1U);
  EXPECT_THAT(desk.driver().warnings().front(), testing::HasSubstr("scontrol resume 1"));
  slurm.requeues = true;
  desk.step();
  EXPECT_EQ(slurm.job(1).state, State::running);
  EXPECT_TRUE(desk.driver().warnings().empty());
}

}  // namespace
}  // namespace almanac::steer
