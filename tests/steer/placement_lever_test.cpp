// SPDX-License-Identifier: Apache-2.0

/// \file
/// Placement against a Slurm in memory: what it does, what it leaves alone,
/// and that all of it is given back when it is turned off.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>

#include "desk.h"
#include "steer/mark.h"

namespace almanac::steer {
namespace {

using manager::Power;
using manager::State;
using testing::HasSubstr;

/// Two nodes, v001 full for an hour; jobs of all GPUs of one and 3, 2, 1 hours.
FakeSlurm half_full() {
  FakeSlurm slurm;
  slurm.add_partition("v", 2, 8);
  slurm.submit("ann", 8, 1h);
  slurm.pass(1s);
  for (int hours = 3; hours > 0; --hours) slurm.submit("bob", 8, hours * 1h);
  return slurm;
}

TEST(Placement, HoldsAllButTheJobThatStartsAndSaysWhere) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  EXPECT_EQ(slurm.job(4).required_nodes, "v002");
  EXPECT_FALSE(slurm.is_held(4));
  EXPECT_TRUE(slurm.is_held(2));
  EXPECT_TRUE(slurm.is_held(3));
  slurm.pass(1s);
  EXPECT_EQ(slurm.job(4).state, State::running);
  EXPECT_EQ(slurm.job(4).holds.front().node, "v002");
  EXPECT_EQ(desk.step(), 0);
  desk.wait(1h);
  slurm.pass(1s);
  EXPECT_EQ(slurm.job(3).state, State::running) << "the shorter of the two that were held";
  EXPECT_EQ(slurm.job(3).required_nodes, "v001");
}

TEST(Placement, GivesAllBackWhenItIsTurnedOffOrDryOrUndone) {
  for (const std::string how : {"off", "dry", "undo", "undo by another"}) {
    FakeSlurm slurm = half_full();
    Desk desk(slurm, "sjf+limit", with("placement"));
    desk.step();
    ASSERT_TRUE(slurm.is_held(2));
    if (how == "undo by another") desk.open();
    if (how == "off" || how == "dry") {
      desk.set(*parse_switch(how));
      desk.step();
      EXPECT_EQ(desk.step(), 0);
    } else {
      desk.undo();
    }
    for (const std::uint32_t job : {2U, 3U, 4U}) {
      EXPECT_FALSE(slurm.is_held(job)) << how;
      EXPECT_EQ(slurm.job(job).required_nodes, "") << how;
      EXPECT_EQ(slurm.job(job).comment, "") << how;
    }
  }
}

TEST(Placement, HoldsAsLongAsItLivesAndNotMuchLonger) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.wait(20min);
  ASSERT_TRUE(slurm.is_held(2));
  ASSERT_TRUE(slurm.is_held(3));
  const auto journal = std::filesystem::file_size(desk.journal_path());
  desk.wait(20min);
  ASSERT_TRUE(slurm.is_held(2));
  EXPECT_EQ(std::filesystem::file_size(desk.journal_path()), journal)
      << "a renewal changes nothing that stands";
  // Everything of ours is dead; nodes come free.
  slurm.pass(3min);
  slurm.pass(3h);
  EXPECT_EQ(slurm.job(2).state, State::running);
  EXPECT_NE(slurm.job(3).state, State::pending);
}

TEST(Placement, HoldsAgainWhatBecameFreeWhileItWasDead) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  slurm.pass(1min);
  desk.open();
  desk.set(Switch::on);
  desk.step();
  EXPECT_TRUE(slurm.is_held(2)) << "its lease was not over yet";
  slurm.pass(5min);
  ASSERT_FALSE(slurm.is_held(2));
  desk.open();
  desk.set(Switch::on);
  desk.step();
  EXPECT_TRUE(slurm.is_held(2)) << "nobody has released it: its lease ended";
  EXPECT_TRUE(slurm.is_held(3));
}

/// As long as it lives no file of this process grows beyond what the journal has.
class FullDisk {
 public:
  explicit FullDisk(const std::string& journal) {
    ::getrlimit(RLIMIT_FSIZE, &usual_);
    const rlimit full{std::filesystem::file_size(journal), usual_.rlim_max};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &usual_); }

 private:
  rlimit usual_{};
};

TEST(Placement, LetsGoWhereItsDiskIsFull) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  ASSERT_TRUE(slurm.is_held(2));
  slurm.submit("ann", 8, 1h);  // there is something to be done
  const FullDisk full(desk.journal_path());
  desk.wait(5min);
  EXPECT_FALSE(slurm.is_held(2)) << "what could not be released again is not held on";
  ASSERT_FALSE(desk.driver().warnings().empty());
  EXPECT_THAT(desk.driver().warnings().front(), HasSubstr("nothing is changed"));
}

TEST(Placement, StartsAndGivesBackWhatThePluginHeld) {
  FakeSlurm slurm = half_full();
  for (const std::uint32_t job : {2U, 3U, 4U}) {
    slurm.hold_newcomer(job);
  }
  Desk desk(slurm, "sjf+limit", with("placement"));
  EXPECT_EQ(desk.step(), 1);
  slurm.pass(1s);
  EXPECT_EQ(slurm.job(4).state, State::running);
  slurm.submit("bob", 8, 4h).held = true;
  slurm.job(5).comment = kMark;
  desk.step(1s);
  desk.undo();
  EXPECT_FALSE(slurm.is_held(2));
  EXPECT_FALSE(slurm.is_held(3));
}

TEST(Placement, NeverTouchesTheHoldsOfOthers) {
  FakeSlurm slurm = half_full();
  slurm.job(4).held = true;
  slurm.job(4).reason = "JobHeldUser";
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  EXPECT_TRUE(slurm.is_held(4));
  EXPECT_EQ(slurm.job(4).comment, "");
  EXPECT_EQ(slurm.job(3).required_nodes, "v002") << "the next one has the place";
  // One that we hold, and its user too by now.
  slurm.job(2).held = true;
  slurm.job(2).reason = "JobHeldUser";
  desk.set(Switch::off);
  desk.step();
  EXPECT_TRUE(slurm.is_held(2));
  EXPECT_EQ(slurm.job(2).comment, "");
}

TEST(Placement, LeavesToSlurmWhatIsNotForIt) {
  FakeSlurm slurm = half_full();
  slurm.job(2).comment = "ask carol first";
  slurm.job(3).required_nodes = "v001";
  slurm.submit("bob", 8, 5h).submit -= 200h;
  slurm.job(5).eligible = slurm.job(5).submit;
  slurm.submit("ann", 8, 6h);
  Settings settings = with("placement");
  settings.exempt.users = {"ann"};
  Desk desk(slurm, "sjf+limit", settings);
  EXPECT_EQ(desk.step(), 1) << "job 4, which starts";
  for (const std::uint32_t job : {2U, 3U, 5U, 6U}) EXPECT_FALSE(slurm.is_held(job)) << job;
  EXPECT_EQ(slurm.job(3).required_nodes, "v001");
  EXPECT_EQ(slurm.job(2).comment, "ask carol first");
}

/// Job 2 waits and is held by us when its user chooses a node for it.
struct ChosenByItsUser {
  FakeSlurm slurm = half_full();
  Desk desk{slurm, "sjf+limit", with("placement")};

  ChosenByItsUser() {
    desk.live(2);
    EXPECT_TRUE(slurm.is_held(2));
    slurm.job(2).required_nodes = "v001";
  }

  /// It is Slurm's, as its user wants it.
  void expect_left() const {
    const manager::Job& job = slurm.jobs.at(manager::JobNumber{2}).job;
    EXPECT_FALSE(job.held);
    EXPECT_EQ(job.comment, "");
    EXPECT_EQ(job.required_nodes, "v001");
  }
};

TEST(Placement, LeavesToSlurmAJobWhoseUserChoosesNodesWhileItIsHeld) {
  ChosenByItsUser chosen;
  chosen.desk.step();
  chosen.expect_left();
  chosen.slurm.now += 10s;
  EXPECT_EQ(chosen.desk.step(), 0) << "and for good";
}

TEST(Placement, KeepsTheNodesOfItsUserWhenItIsUndoneOrOff) {
  ChosenByItsUser undone;
  undone.desk.undo();
  undone.expect_left();
  ChosenByItsUser off;
  off.desk.set(Switch::off);
  off.desk.step();
  off.expect_left();
}

TEST(Placement, KnowsWhoseNodesTheyAreOfOneThatItReleased) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  ASSERT_EQ(slurm.job(4).required_nodes, "v002");
  slurm.job(4).required_nodes = "v001";  // its user's wish, before it has started
  desk.step();
  desk.undo();
  EXPECT_EQ(slurm.job(4).required_nodes, "v001");
  EXPECT_EQ(slurm.job(4).comment, "");
}

TEST(Placement, ReleasesWithoutNodesWhatThePolicyCannotPlace) {
  FakeSlurm slurm = half_full();
  slurm.job(4).features = "[nvlink]";
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  EXPECT_FALSE(slurm.is_held(4));
  EXPECT_EQ(slurm.job(4).required_nodes, "");
  FakeSlurm asleep = half_full();
  asleep.nodes.at("v002").power = Power::off;
  Desk other(asleep, "sjf+limit", with("placement"));
  other.step();
  EXPECT_FALSE(asleep.is_held(4)) << "Slurm wakes what it needs";
  EXPECT_EQ(asleep.job(4).required_nodes, "");
}

/// Four nodes, of which v003 and v004 are full for a day.
FakeSlurm two_free() {
  FakeSlurm slurm;
  slurm.add_partition("v", 4, 8);
  for (const std::string node : {"v003", "v004"}) {
    slurm.submit("ann", 8, 24h).required_nodes = node;
  }
  slurm.pass(1s);
  return slurm;
}

TEST(Placement, LetsNoJobWaitForOneWhoseNodesCannotTakeIt) {
  for (const std::string why : {"its node is drained", "its node is full", "it leaves out the rest",
                                "no node in service has its feature"}) {
    FakeSlurm slurm = two_free();
    slurm.nodes.at("v002").drained = why != "its node is full";
    slurm.nodes.at("v002").features = "nvlink";
    manager::Job& choosy = slurm.submit("bob", 4, 10min);
    if (why == "its node is drained") choosy.required_nodes = "v002";
    if (why == "its node is full") choosy.required_nodes = "v003";
    if (why == "it leaves out the rest") choosy.excluded_nodes = "v001";
    if (why == "no node in service has its feature") choosy.features = "nvlink";
    for (int more = 0; more < 3; ++more) slurm.submit("bob", 8, 1h);
    Desk desk(slurm, "sjf+limit", with("placement"));
    desk.live(3);
    EXPECT_EQ(slurm.job(4).state, State::running) << why;
    EXPECT_EQ(slurm.job(3).state, State::pending) << why;
    slurm.nodes.at("v002").drained = false;
    slurm.pass(1h);
    desk.live(3);
    if (why == "its node is full") continue;
    EXPECT_EQ(slurm.job(3).state, State::running) << why;
  }
}

TEST(Placement, StartsAJobOnAnotherNodeThanThePolicysWhereItLeavesThatOut) {
  for (const bool leaves_out : {true, false}) {
    FakeSlurm slurm = two_free();
    slurm.nodes.at("v002").features = "nvlink";
    manager::Job& choosy = slurm.submit("bob", 4, 10min);
    if (leaves_out) choosy.excluded_nodes = "v001";
    if (!leaves_out) choosy.features = "nvlink";
    slurm.submit("bob", 8, 1h);
    Desk desk(slurm, "sjf+limit", with("placement"));
    desk.step();
    EXPECT_EQ(slurm.job(3).required_nodes, "v002");
    EXPECT_EQ(slurm.job(4).required_nodes, "v001") << "which the other does not take";
    slurm.pass(1s);
    EXPECT_EQ(slurm.job(3).state, State::running);
    EXPECT_EQ(slurm.job(4).state, State::running);
    desk.live(30);
    EXPECT_EQ(desk.state().failed, 0U);
  }
}

TEST(Placement, LetsNoJobWaitForOneThatSlurmDoesNotStart) {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  slurm.submit("bob", 8, 10min);
  slurm.submit("bob", 8, 20min);
  slurm.stuck = {manager::JobNumber{1}};
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.live(10);
  EXPECT_EQ(slurm.job(2).state, State::running) << "while the first one rests";
  slurm.jobs.erase(manager::JobNumber{2});
  slurm.stuck.clear();
  desk.live(20);
  EXPECT_EQ(slurm.job(1).state, State::running) << "it is tried again";
}

TEST(Placement, LetsNoJobWaitForOneThatIsLeftToSlurmAndDoesNotStart) {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  slurm.submit("bob", 8, 10min).comment = "ask carol first";
  slurm.submit("bob", 8, 20min);
  slurm.stuck = {manager::JobNumber{1}};
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.live(30);
  EXPECT_EQ(slurm.job(2).state, State::running);
}

TEST(Placement, LeavesAPriorityOfItsOwnToTheJob) {
  FakeSlurm slurm = half_full();
  slurm.job(2).priority = 77'777;
  slurm.job(2).own_priority = true;
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.wait(10min);
  EXPECT_TRUE(slurm.is_held(2));
  EXPECT_EQ(slurm.job(2).priority, 77'777U) << "a hold takes nothing of it";
  desk.undo();
  EXPECT_FALSE(slurm.is_held(2));
  EXPECT_EQ(slurm.job(2).priority, 77'777U);
}

TEST(Placement, StartsAJobThatHasAPriorityOfItsOwnAsAnyOther) {
  for (const std::string lowered : {"before", "while it is held"}) {
    FakeSlurm slurm = half_full();
    Desk desk(slurm, "sjf+limit", with("placement"));
    if (lowered == "while it is held") desk.step();
    slurm.job(3).priority = 77'777;
    slurm.job(3).own_priority = true;
    desk.step();
    ASSERT_TRUE(slurm.is_held(3)) << lowered;
    desk.wait(1h);
    slurm.pass(1s);
    EXPECT_EQ(slurm.job(3).state, State::running) << lowered;
    EXPECT_EQ(slurm.job(3).required_nodes, "v001") << lowered;
    EXPECT_EQ(slurm.job(3).priority, 77'777U) << lowered;
  }
}

TEST(Placement, StartsAJobWhoseOrderIsSomebodyElsesByNow) {
  FakeSlurm slurm = half_full();
  Settings settings = with("placement");
  settings.levers["order"] = Switch::on;
  Desk desk(slurm, "sjf+limit", settings);
  desk.step();
  ASSERT_TRUE(slurm.is_held(3));
  slurm.job(3).site_factor = 4321;
  desk.wait(1h);
  slurm.pass(1s);
  EXPECT_EQ(slurm.job(3).state, State::running);
  EXPECT_EQ(slurm.job(3).site_factor, 4321);
}

TEST(Placement, LeavesToSlurmWhatWouldLoseItsAge) {
  for (const bool keeps : {false, true}) {
    FakeSlurm slurm = half_full();
    slurm.site.parameters["AccountingStorageEnforce"] = "associations,limits,qos";
    slurm.site.parameters["PriorityWeightAge"] = "1000";
    if (keeps) slurm.site.parameters["PriorityFlags"] = "ACCRUE_ALWAYS";
    slurm.job(2).eligible -= 24h;
    slurm.job(2).submit -= 24h;
    Desk desk(slurm, "sjf+limit", with("placement"));
    desk.step();
    EXPECT_EQ(slurm.is_held(2), keeps);
    EXPECT_TRUE(slurm.is_held(3)) << "which has just come";
    ASSERT_EQ(desk.driver().warnings().empty(), keeps);
    if (keeps) continue;
    EXPECT_THAT(desk.driver().warnings().front(), HasSubstr("ACCRUE_ALWAYS"));
  }
}

TEST(Placement, TakesBackAJobThatDoesNotStartAndGivesUpInTheEnd) {
  FakeSlurm slurm = half_full();
  // Something that the policy does not know of keeps it there.
  slurm.job(1).holds.clear();
  slurm.nodes.at("v002").drained = false;
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  const std::string first = slurm.job(4).required_nodes;
  ASSERT_NE(first, "");
  bool taken_back = false;
  bool anywhere = false;
  for (int step = 0; step < 60; ++step) {
    slurm.now += 10s;  // and nothing starts
    desk.step();
    taken_back = taken_back || slurm.is_held(4);
    anywhere = anywhere || (!slurm.is_held(4) && slurm.job(4).comment == kMark &&
                            slurm.job(4).required_nodes.empty());
  }
  EXPECT_TRUE(taken_back);
  EXPECT_TRUE(anywhere);
  EXPECT_FALSE(slurm.is_held(4));
  EXPECT_EQ(slurm.job(4).comment, "") << "left to Slurm";
}

TEST(Placement, KnowsWhatItTriedInVainThoughItBeginsAnewAtEachStep) {
  FakeSlurm slurm = half_full();
  slurm.job(1).holds.clear();  // as above
  Desk desk(slurm, "sjf+limit", with("placement"));
  int taken_back = 0;
  bool was_held = false;
  for (int step = 0; step < 60; ++step) {
    desk.open();
    desk.step();
    taken_back += slurm.is_held(4) && !was_held ? 1 : 0;
    was_held = slurm.is_held(4);
    slurm.now += 10s;  // and nothing starts
  }
  EXPECT_EQ(taken_back, 2) << "the third time it is left to Slurm";
  EXPECT_FALSE(slurm.is_held(4));
  EXPECT_EQ(slurm.job(4).comment, "");
}

TEST(Placement, ForgetsNothingThatItTriedWhereItsJournalBeginsAnew) {
  QueueClaims claims;
  const Meant meant{.submit = Time{1s}};
  const manager::Job job{.number = manager::JobNumber{4}, .submit = Time{1s}};
  const auto change = [&](const std::string& comment, int in_vain) {
    QueueChange made({.job = job.number}, {.job = job.number, .comment = comment}, meant);
    made.in_vain = in_vain;
    return made;
  };
  claims.take(change(std::string(kMark), 0), {.at = Time{10s}});
  claims.take(change(manager::mark_until(Time{200s}), 1), {.at = Time{100s}});
  QueueClaims anew;
  for (const auto& [at, each] : claims.standing(Time{1h})) anew.take(each, {.at = at});
  EXPECT_EQ(anew.tries(job).in_vain, 1);
  EXPECT_EQ(anew.tries(job).taken_back, Time{100s});
  EXPECT_EQ(anew.tries(job).released, kNoTime);
  manager::Job again = job;
  again.restarts = 1;
  EXPECT_EQ(anew.tries(again).in_vain, 0) << "of another run";
}

TEST(Placement, DoesNotGiveUpBecauseItCouldNotTakeBack) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  ASSERT_NE(slurm.job(4).required_nodes, "");
  slurm.refused = {manager::JobNumber{4}};
  for (int step = 0; step < 12; ++step) {
    slurm.now += 10s;  // and nothing starts
    desk.step();
  }
  slurm.refused.clear();
  slurm.now += 61s;
  desk.step();
  EXPECT_TRUE(slurm.is_held(4)) << "the first time";
}

TEST(Placement, LeavesAloneAJobThatSomebodyElseReleases) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  desk.step();
  slurm.job(2).eligible = slurm.now;
  desk.step();
  desk.step();
  EXPECT_FALSE(slurm.is_held(2));
  EXPECT_EQ(slurm.job(2).comment, "");
  desk.open();
  desk.step();
  EXPECT_FALSE(slurm.is_held(2)) << "a service that begins anew knows it too";
}

TEST(Placement, TakesBackNothingWhereTheControllersClockIsAhead) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  ASSERT_FALSE(slurm.is_held(4));
  slurm.job(4).eligible = slurm.now + 2s;  // it is later there, and Slurm has not started it yet
  EXPECT_EQ(desk.step(), 0);
  EXPECT_EQ(slurm.job(4).required_nodes, "v002");
  EXPECT_EQ(slurm.job(4).comment, kMark);
  EXPECT_TRUE(slurm.is_held(3)) << "nobody goes where it is to start";
}

TEST(Placement, HoldsAnArrayAsAWholeAndLetsSlurmPlaceItsTasks) {
  FakeSlurm slurm = half_full();
  slurm.job(4).array = manager::JobNumber{4};
  slurm.job(4).tasks = "1-9";
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  EXPECT_FALSE(slurm.is_held(4));
  EXPECT_EQ(slurm.job(4).required_nodes, "");
  slurm.nodes.at("v002").drained = true;  // nothing can start any more
  slurm.now += 10s;
  desk.step();
  EXPECT_TRUE(slurm.is_held(4));
}

TEST(Placement, KeepsTheHoldOfAUserOnOneThatItHolds) {
  FakeSlurm slurm = half_full();
  Desk desk(slurm, "sjf+limit", with("placement"));
  desk.step();
  slurm.job(2).held = true;
  slurm.job(2).reason = "JobHeldUser";
  desk.wait(5min);
  desk.undo();
  EXPECT_TRUE(slurm.job(2).held);
}

TEST(Placement, NeedsAWayThatPutsOffWhenJobsBegin) {
  const auto lever = make_lever("placement");
  const manager::Site site{.is_operator = true};
  EXPECT_TRUE(lever->obstacle(site, {.begins = false}));
  EXPECT_FALSE(lever->obstacle(site, {.begins = true}));
  EXPECT_TRUE(lever->obstacle({.is_operator = false}, {.begins = true}));
}

RC_GTEST_PROP(Placement, NeverLeavesAJobHeldWhenItIsDead, ()) {
  FakeSlurm slurm;
  slurm.add_partition("v", 3, 4);
  Desk desk(slurm, *rc::gen::element<std::string>("sjf+limit", "fifo", "las"), with("placement"));
  const auto rounds = *rc::gen::inRange(1, 20);
  for (int round = 0; round < rounds; ++round) {
    const auto come = *rc::gen::inRange(0, 4);
    for (int each = 0; each < come; ++each) {
      slurm.submit("ann", *rc::gen::inRange(1, 5), *rc::gen::inRange(1, 100) * 1min);
    }
    desk.step();
    slurm.pass(*rc::gen::inRange(0, 120) * 1s);
  }
  const bool is_killed = *rc::gen::arbitrary<bool>();
  if (is_killed) {
    slurm.now += 2min + 1s;
  } else {
    desk.set(Switch::off);
    desk.step();
  }
  for (const auto& [number, one] : slurm.jobs) {
    RC_ASSERT(!slurm.is_held(static_cast<std::uint32_t>(number)));
  }
}

}  // namespace
}  // namespace almanac::steer
