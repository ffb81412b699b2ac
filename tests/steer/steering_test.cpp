// SPDX-License-Identifier: Apache-2.0

/// \file
/// Mirror, decision, lever and driver against a Slurm in memory: its queue is brought into the
/// order of the policy, no more is changed than must be, and all of it can be taken back.
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "desk.h"

namespace almanac::steer {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// One full node, and behind it jobs of 9, 8, ... 1 minutes, numbers 2 to 10.
FakeSlurm crowded() {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  slurm.submit("ann", 8, 1h);
  slurm.pass(1s);
  for (int minutes = 9; minutes > 0; --minutes) {
    slurm.submit(minutes % 2 == 0 ? "ann" : "bob", 8, minutes * 1min);
    slurm.now += 1s;
  }
  return slurm;
}

TEST(Steering, BringsTheQueueIntoTheOrderOfThePolicy) {
  FakeSlurm slurm = crowded();
  Desk desk(slurm, "sjf+limit", with("order"));
  EXPECT_EQ(desk.step(), 9);
  EXPECT_EQ(slurm.queue(), (Numbers{10, 9, 8, 7, 6, 5, 4, 3, 2}));
  EXPECT_EQ(desk.step(), 0) << "what is in order is left alone";
  slurm.submit("ann", 8, 270s);
  EXPECT_EQ(desk.step(), 1) << "a job that comes is put in its place, and no other is touched";
  EXPECT_EQ(slurm.queue(), (Numbers{10, 9, 8, 7, 11, 6, 5, 4, 3, 2}));
}

TEST(Steering, DoesNothingWhileTheLeverIsDry) {
  FakeSlurm slurm = crowded();
  Desk desk(slurm, "sjf+limit", with("order", Switch::dry));
  EXPECT_EQ(desk.step(), 0);
  const service::LeverView state = desk.driver().states().front();
  EXPECT_EQ(state.wanted, 9);
  EXPECT_TRUE(state.next.front().starts_with("job 10: site_factor 0 -> ")) << state.next.front();
  EXPECT_TRUE(state.next.front().ends_with("; place 1 of 9 in v under sjf+limit"))
      << state.next.front();
  desk.driver().set("order", Switch::off);
  EXPECT_EQ(desk.step(), 0);
  EXPECT_EQ(desk.driver().states().front().wanted, 0);
}

TEST(Steering, NeverTouchesExemptJobsAndThoseThatDoNotWaitForThePolicy) {
  FakeSlurm slurm = crowded();
  slurm.job(4).held = true;
  slurm.job(6).dependency = "afterok:2(unfulfilled)";
  slurm.job(8).eligible = slurm.now + 1h;
  slurm.job(10).het = manager::JobNumber{10};
  Settings settings = with("order");
  settings.exempt.users = {"ann"};
  Desk desk(slurm, "sjf+limit", settings);
  EXPECT_EQ(desk.step(), 1);
  EXPECT_EQ(desk.line(), Numbers{2});
  settings.exempt.users.clear();
  Desk other(slurm, "sjf+limit", settings);
  EXPECT_EQ(other.step(), 4);
  EXPECT_EQ(other.line(), (Numbers{9, 7, 5, 3, 2}));
}

TEST(Steering, PutsInFrontJobsThatHaveWaitedTooLong) {
  FakeSlurm slurm = crowded();
  slurm.job(2).submit = slurm.job(2).eligible = slurm.now - 200h;
  slurm.job(3).submit = slurm.job(3).eligible = slurm.now - 300h;
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  EXPECT_EQ(slurm.queue(), (Numbers{3, 2, 10, 9, 8, 7, 6, 5, 4}));
}

TEST(Steering, TakesBackAllThatItDid) {
  FakeSlurm slurm = crowded();
  slurm.job(4).site_factor = 77;
  const Numbers before = slurm.queue();
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  slurm.job(6).site_factor = 5;  // a user's own wish since
  desk.open();
  desk.undo();
  EXPECT_EQ(std::exchange(slurm.job(6).site_factor, 0), 5);
  EXPECT_EQ(slurm.queue(), before);
  EXPECT_EQ(slurm.job(4).site_factor, 77);
  const int changes = slurm.changes;
  desk.undo();
  EXPECT_EQ(slurm.changes, changes) << "nothing is undone twice";
}

TEST(Steering, TakesBackTheRestWhenAControllerThatFailedComesBack) {
  for (const bool another : {false, true}) {
    FakeSlurm slurm = crowded();
    const Numbers before = slurm.queue();
    Desk desk(slurm, "sjf+limit", with("order"));
    desk.step();
    slurm.most_changes = slurm.changes + 4;
    desk.undo();
    if (another) desk.open();
    slurm.most_changes = 1000;
    desk.undo();
    EXPECT_EQ(slurm.queue(), before) << another;
  }
}

TEST(Steering, TakesBackWhatWasDoneThoughNobodySaidSo) {
  FakeSlurm slurm = crowded();
  const Numbers before = slurm.queue();
  Desk desk(slurm, "sjf+limit", with("order"));
  slurm.loses_answers = true;
  desk.step();
  ASSERT_NE(slurm.queue(), before);
  slurm.loses_answers = false;
  desk.open();
  desk.undo();
  EXPECT_EQ(slurm.queue(), before);
}

TEST(Steering, KnowsWhatIsLeftToBeTakenBackWhereTheJournalIsLarge) {
  FakeSlurm slurm = crowded();
  const Numbers before = slurm.queue();
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  constexpr std::size_t kLarger = 65 << 20;
  std::ofstream(desk.journal_path(), std::ios::app)
      << R"({"done":0,"to":0,"failed":{"0":")" << std::string(kLarger, '.') << "\"}}\n";
  desk.open();
  slurm.most_changes = slurm.changes + 4;
  desk.undo();
  desk.open();
  slurm.most_changes = 1000;
  desk.undo();
  EXPECT_EQ(slurm.queue(), before);
}

TEST(Steering, AsksNoMoreThanTheBudgetAllows) {
  FakeSlurm slurm = crowded();
  Settings settings = with("order");
  settings.changes_per_s = 4;
  Desk desk(slurm, "sjf+limit", settings);
  EXPECT_EQ(desk.step(), 4);
  EXPECT_EQ(slurm.queue().front(), 10U) << "the first come first";
  EXPECT_EQ(desk.step(500ms), 2);
  EXPECT_EQ(desk.step(), 3);
  EXPECT_EQ(slurm.queue(), (Numbers{10, 9, 8, 7, 6, 5, 4, 3, 2}));
}

TEST(Steering, AsksNoMoreThanTheBudgetAllowsWhereSlurmRefuses) {
  FakeSlurm slurm = crowded();
  for (const auto& [number, one] : slurm.jobs) slurm.refused.insert(number);
  Settings settings = with("order");
  settings.changes_per_s = 4;
  Desk desk(slurm, "sjf+limit", settings);
  desk.step();
  EXPECT_EQ(desk.state().failed, 4U);
  desk.step(1ms);
  EXPECT_EQ(desk.state().failed, 4U);
}

TEST(Steering, GoesOnWhenAControllerThatFailedComesBack) {
  FakeSlurm slurm = crowded();
  slurm.most_changes = 4;
  Desk desk(slurm, "sjf+limit", with("order"));
  EXPECT_EQ(desk.step(), 4);
  slurm.is_down = true;
  EXPECT_EQ(desk.step(), 0);
  slurm.is_down = false;
  slurm.most_changes = 1000;
  desk.step();
  EXPECT_EQ(slurm.queue(), (Numbers{10, 9, 8, 7, 6, 5, 4, 3, 2}));
}

TEST(Steering, DoesNotAskAgainAtOnceWhatSlurmRefuses) {
  FakeSlurm slurm = crowded();
  slurm.refused.insert(manager::JobNumber{7});
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  EXPECT_EQ(desk.driver().states().front().failed, 1U);
  desk.step();
  EXPECT_EQ(desk.driver().states().front().failed, 1U);
  slurm.refused.clear();
  slurm.now += 61s;
  EXPECT_EQ(desk.step(), 1);
  EXPECT_EQ(slurm.queue(), (Numbers{10, 9, 8, 7, 6, 5, 4, 3, 2}));
}

TEST(Steering, StandsDownWhereSomebodyElseSetsTheOrderToo) {
  FakeSlurm slurm = crowded();
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  slurm.job(4).site_factor = 1234;
  EXPECT_EQ(desk.step(), 0) << "one job is left to the user who wants it elsewhere";
  EXPECT_EQ(desk.driver().states().front().how, Switch::on);
  for (const std::uint32_t job : {5U, 6U, 7U, 8U}) slurm.job(job).site_factor = 1000 + job;
  EXPECT_EQ(desk.step(), 0);
  EXPECT_EQ(desk.driver().states().front().how, Switch::dry);
  ASSERT_FALSE(desk.driver().warnings().empty());
  EXPECT_EQ(desk.driver().warnings().front(),
            "another program or person sets the order of jobs too (5 jobs within the hour): all "
            "levers are dry now");
}

TEST(Steering, LeavesToSomebodyElseWhatIsTheirsThoughItBeginsAnew) {
  FakeSlurm slurm = crowded();
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  slurm.job(4).site_factor = 1234;
  for (const std::uint32_t job : {5U, 6U, 7U}) slurm.job(job).site_factor = 1000 + job;
  desk.step();
  slurm.job(4).site_factor = 0;  // as if nobody had ever set it
  slurm.now += 2h;
  desk.open();
  EXPECT_EQ(desk.step(), 0);
  EXPECT_EQ(slurm.job(4).site_factor, 0);
  slurm.job(8).site_factor = 1008;
  desk.step();
  EXPECT_EQ(desk.driver().states().front().how, Switch::on) << "four of the five were long ago";
}

TEST(Steering, KnowsWhatIsSomebodyElsesWhereItsJournalBeginsAnew) {
  QueueClaims claims;
  Mirror mirror;
  manager::Job job{.number = manager::JobNumber{4}, .submit = Time{1s}};
  job.site_factor = 77;
  mirror.take({.at = Time{1h}, .jobs = {job}});
  claims.take(QueueChange({.job = job.number, .site_factor = 0},
                          {.job = job.number, .site_factor = 500}, {.submit = Time{1s}}),
              {.at = Time{10s}});
  ASSERT_EQ(claims.take_over(mirror).size(), 1U);
  QueueClaims anew;
  for (const auto& [at, each] : claims.standing(Time{1h})) anew.take(each, {.at = at});
  EXPECT_TRUE(anew.is_taken_over(job));
  EXPECT_TRUE(anew.take_over(mirror).empty());
  EXPECT_TRUE(anew.invert(mirror).empty());
}

TEST(Steering, StandsNotDownBecauseOfOneUser) {
  FakeSlurm slurm = crowded();
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  for (std::uint32_t job = 2; job <= 10; ++job) {
    if (slurm.job(job).user == "bob") slurm.job(job).site_factor = 1000 + job;
  }
  desk.step();
  EXPECT_EQ(desk.driver().states().front().how, Switch::on) << "who may lower his own jobs";
}

TEST(Steering, LeavesPrioritiesThatAnAdministratorHasSet) {
  FakeSlurm slurm = crowded();
  slurm.job(2).priority = 77'777;
  slurm.job(2).own_priority = true;
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  EXPECT_EQ(slurm.job(2).site_factor, 0) << "Slurm would not heed it";
  EXPECT_EQ(slurm.queue(), (Numbers{10, 9, 8, 7, 6, 5, 4, 3, 2}));
  ASSERT_FALSE(desk.driver().warnings().empty());
  EXPECT_EQ(desk.state().wanted, 8);
  EXPECT_EQ(desk.step(), 0);
  // Set since, which no site factor shows.
  for (const std::uint32_t job : {4U, 5U, 6U, 7U, 8U}) {
    slurm.job(job).priority = 5;
    slurm.job(job).own_priority = true;
  }
  desk.step();
  EXPECT_EQ(desk.driver().states().front().how, Switch::dry);
}

TEST(Steering, OrdersEachVirtualClusterByItself) {
  FakeSlurm slurm;
  slurm.add_partition("red", 1, 8);
  slurm.add_partition("blue", 1, 8);
  for (const std::string partition : {"red", "blue"}) {
    slurm.submit("ann", 8, 1h, partition);
    slurm.pass(1s);
    slurm.submit("ann", 8, 2h, partition);
    slurm.submit("ann", 8, 1h, partition);
  }
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  EXPECT_EQ(slurm.queue("red"), (Numbers{3, 2}));
  EXPECT_EQ(slurm.queue("blue"), (Numbers{6, 5}));
}

TEST(Steering, KnowsAnArrayByTheRecordThatStandsForItsTasks) {
  FakeSlurm slurm = crowded();
  slurm.job(10).array = manager::JobNumber{10};
  slurm.job(10).tasks = "1-500%2";
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  EXPECT_EQ(desk.line(), (Numbers{10, 9, 8, 7, 6, 5, 4, 3, 2}));
}

TEST(Steering, StartsNoMoreTasksThanTheirArrayAllows) {
  FakeSlurm slurm;
  slurm.add_partition("v", 4, 8);
  slurm.submit("ann", 8, 1h);
  slurm.job(1).array = manager::JobNumber{1};
  slurm.job(1).tasks = "1-500%2";
  Desk desk(slurm, "fifo", with("order"));
  desk.look();
  EXPECT_EQ(desk.decider().last().starts.size(), 2U);
}

TEST(Steering, PlansOnWhatIsFreeOnly) {
  FakeSlurm slurm;
  slurm.add_partition("v", 3, 8);
  slurm.nodes.at("v003").drained = true;
  slurm.submit("ann", 8, 1h);
  slurm.pass(1s);
  slurm.submit("ann", 8, 1h);
  slurm.submit("ann", 8, 1h);
  Desk desk(slurm, "fifo", with("order"));
  desk.look();
  const Decision& decision = desk.decider().last();
  ASSERT_EQ(decision.starts.size(), 1U);
  EXPECT_EQ(decision.starts[0].job, manager::JobNumber{2});
  EXPECT_EQ(decision.world->cluster.node_label(decision.starts[0].held[0].node), "v002");
  const auto why = desk.decider().why(manager::JobNumber{3});
  ASSERT_TRUE(why);
  EXPECT_EQ(why->kind, policy::ReasonKind::short_of_gpus);
}

TEST(Steering, LeavesJobsWhereTheyRunOnDrainedNodes) {
  FakeSlurm slurm;
  slurm.add_partition("v", 2, 8);
  slurm.submit("ann", 2, 1h);
  slurm.pass(1s);
  slurm.nodes.at("v001").drained = true;
  slurm.submit("ann", 8, 1h);
  slurm.submit("ann", 2, 1h);
  Desk desk(slurm, "fifo", with("order"));
  desk.look();
  const Decision& decision = desk.decider().last();
  ASSERT_EQ(decision.starts.size(), 1U);
  EXPECT_EQ(decision.world->cluster.node_label(decision.starts[0].held[0].node), "v002");
}

TEST(Steering, SurvivesJobsThatHoldTheSameGpuTwice) {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 4);
  for (int job = 0; job < 3; ++job) {
    manager::Job& it = slurm.submit("ann", 3, 1h);
    it.state = manager::State::running;
    it.start = slurm.now;
    it.holds = {{.node = "v001", .gpus = 0b111, .gpu_count = 3, .cpus = 40, .memory_gb = 200}};
  }
  slurm.job(3).holds[0].gpus = 0;  // only how many is told
  slurm.submit("ann", 1, 1h);
  Desk desk(slurm, "fifo", with("order"));
  desk.look();
  EXPECT_TRUE(desk.decider().last().starts.empty());
}

RC_GTEST_PROP(Steering, LeavesTheQueueAsThePolicyHasIt, ()) {
  FakeSlurm slurm;
  slurm.add_partition("v", 2, 4);
  Settings settings = with("order");
  settings.order.highest = *rc::gen::inRange(200, 1'000'000);
  settings.order.age_cap = kNoDuration;
  const auto policy =
      *rc::gen::element<std::string>("sjf+limit", "fifo", "las", "easy", "tiresias", "yarn_cs");
  Desk desk(slurm, policy, settings);
  const auto rounds = *rc::gen::inRange(1, 20);
  for (int round = 0; round < rounds; ++round) {
    const auto come = *rc::gen::inRange(0, 5);
    for (int each = 0; each < come; ++each) {
      const auto user = *rc::gen::element<std::string>("ann", "bob");
      const auto gpus = *rc::gen::inRange(1, 5);
      slurm.submit(user, gpus, *rc::gen::inRange(1, 100) * 1min);
    }
    slurm.pass(*rc::gen::inRange(0, 30) * 1min);
    desk.step();
    RC_ASSERT(slurm.queue() == desk.line());
    for (const auto& [number, one] : slurm.jobs) {
      const std::int64_t set = one.job.site_factor;
      RC_ASSERT(set == 0 || (set >= settings.order.lowest && set <= settings.order.highest));
    }
    RC_ASSERT(desk.step() == 0);
  }
}

}  // namespace
}  // namespace almanac::steer
