// SPDX-License-Identifier: Apache-2.0

/// \file
/// Power against a Slurm in memory: which nodes sleep, which are woken, what they weigh, and that
/// all are on and as they were when it is turned off.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "desk.h"
#include "steer/node_weight.h"

namespace almanac::steer {
namespace {

using manager::Power;
using testing::AllOf;
using testing::HasSubstr;

/// Eight nodes of which the first works.
FakeSlurm quiet() {
  FakeSlurm slurm;
  slurm.site.parameters.insert({{"SuspendProgram", "/off"},
                                {"ResumeProgram", "/on"},
                                {"SuspendTime", "2592000 sec"},
                                {"SuspendTimeout", "30 sec"},
                                {"ResumeTimeout", "60 sec"}});
  slurm.add_partition("v", 8, 8);
  slurm.submit("ann", 8, 100h);
  slurm.pass(1s);
  return slurm;
}

int count(const FakeSlurm& slurm, Power power) {
  return static_cast<int>(
      std::count_if(slurm.nodes.begin(), slurm.nodes.end(),
                    [&](const auto& each) { return each.second.power == power; }));
}

TEST(PowerLever, PutsToSleepWhatNoJobUses) {
  FakeSlurm slurm = quiet();
  Desk desk(slurm, "fifo+follow_load", with("power"));
  desk.live(200);
  EXPECT_GT(count(slurm, Power::off), 3);
  EXPECT_EQ(slurm.nodes.at("v001").power, Power::on);
}

TEST(PowerLever, LetsNodesThatAreNotOnWeighMore) {
  FakeSlurm slurm = quiet();
  slurm.nodes.at("v007").weight = 5;
  Desk desk(slurm, "fifo+follow_load", with("power"));
  desk.live(200);
  ASSERT_GT(count(slurm, Power::off), 3);
  const auto usual = [](const std::string& name) { return name == "v007" ? 5U : 1U; };
  for (const auto& [name, node] : slurm.nodes) {
    EXPECT_EQ(node.weight, usual(name) | (node.power == Power::on ? 0 : kSleeps)) << name;
  }
  const int changes = slurm.changes;
  desk.live(20);
  EXPECT_EQ(slurm.changes, changes);
  desk.undo();
  for (const auto& [name, node] : slurm.nodes) EXPECT_EQ(node.weight, usual(name)) << name;
}

TEST(PowerLever, LetsNodesThatBootWeighLessThanThoseThatSleep) {
  FakeSlurm slurm = quiet();
  slurm.nodes.at("v007").weight = kTooHeavy;
  Desk desk(slurm, "fifo+follow_load", with("power"));
  desk.live(200);
  ASSERT_EQ(slurm.nodes.at("v006").power, Power::off);
  ASSERT_EQ(slurm.nodes.at("v007").power, Power::off);
  slurm.nodes.at("v006").power = Power::powering_up;  // by Slurm, for a job
  slurm.powered["v006"] = slurm.now;
  desk.step();
  EXPECT_EQ(slurm.nodes.at("v006").weight, 1 | kBoots);
  EXPECT_EQ(slurm.nodes.at("v008").weight, 1 | kSleeps);
  EXPECT_EQ(slurm.nodes.at("v007").weight, kTooHeavy) << "whatever it does";
  const auto counts = [](std::uint32_t weight) { return weight & 0xFFFF; };
  EXPECT_LT(kTooHeavy - 1, counts(kBoots));
  EXPECT_LT(counts(kBoots) + kTooHeavy - 1, counts(kSleeps));
}

TEST(PowerLever, SaysWhatItCannotGiveBackByThisWay) {
  FakeSlurm slurm = quiet();
  Desk desk(slurm, "fifo+follow_load", with("power"));
  desk.live(200);
  ASSERT_EQ(slurm.nodes.at("v008").power, Power::off);
  slurm.powers = false;
  desk.open();
  desk.set(Switch::off);
  const auto journal_size = std::filesystem::file_size(desk.journal_path());
  const int changes = slurm.changes;
  desk.live(20);
  EXPECT_EQ(slurm.changes, changes);
  EXPECT_EQ(desk.state().failed, 0U) << "nothing is tried in vain";
  EXPECT_EQ(std::filesystem::file_size(desk.journal_path()), journal_size);
  ASSERT_EQ(desk.driver().warnings().size(), 1U);
  EXPECT_THAT(desk.driver().warnings().front(),
              AllOf(HasSubstr("v008 (weight 1)"), HasSubstr("v008 (asleep)"),
                    HasSubstr("almanac slurm undo --way commands")));
  slurm.powers = true;
  desk.live(20);
  EXPECT_EQ(slurm.nodes.at("v008").weight, 1U);
  EXPECT_EQ(count(slurm, Power::on), 8);
  EXPECT_TRUE(desk.driver().warnings().empty());
}

TEST(PowerLever, SaysOnceWhatANodeWeighsUntilSlurmShowsIt) {
  for (const std::string policy : {"fifo", "fifo+follow_load"}) {
    FakeSlurm slurm = quiet();
    slurm.nodes.at("v008").power = Power::off;  // an administrator's
    Desk desk(slurm, policy, with("power"));
    EXPECT_EQ(desk.step(), 1) << policy;
    slurm.is_down = true;  // so that nothing is news
    desk.step();
    EXPECT_EQ(desk.state().wanted, 0) << policy;
  }
}

TEST(PowerLever, WakesAllThatItPutToSleepWhenItIsTurnedOff) {
  FakeSlurm slurm = quiet();
  slurm.nodes.at("v008").power = Power::off;  // an administrator's
  Desk desk(slurm, "fifo+follow_load", with("power"));
  while (count(slurm, Power::powering_down) == 0) desk.live(1);
  desk.set(Switch::off);
  desk.open();
  desk.set(Switch::off);
  desk.live(1);
  EXPECT_GT(count(slurm, Power::powering_down), 0) << "where a command would be lost";
  desk.live(20);
  EXPECT_EQ(count(slurm, Power::on), 7);
  EXPECT_EQ(slurm.nodes.at("v008").power, Power::off);
  const int changes = slurm.changes;
  desk.live(20);
  EXPECT_EQ(slurm.changes, changes);
}

TEST(PowerLever, LeavesOnWhatIsReservedOrWaitedForOrExempt) {
  FakeSlurm slurm = quiet();
  slurm.reservations = {{.name = "now", .nodes = {"v002"}, .start = slurm.now, .end = kNoTime},
                        {.name = "past", .nodes = {"v003"}, .start = {}, .end = slurm.now}};
  slurm.add_partition("w", 4, 8);
  slurm.add_partition("debug", 4, 8);
  slurm.submit("ann", 33, 1h, "w");
  slurm.jobs.rbegin()->second.job.gpus = 32;
  slurm.nodes.at("w001").drained = true;
  Settings settings = with("power");
  settings.exempt.partitions = {"debug"};
  Desk desk(slurm, "fifo+follow_load", settings);
  desk.live(300);
  EXPECT_EQ(slurm.nodes.at("v002").power, Power::on);
  EXPECT_GT(count(slurm, Power::off), 0);
  for (const auto& [name, node] : slurm.nodes) {
    if (!name.starts_with("v")) {
      EXPECT_EQ(node.power, Power::on) << name;
    }
  }
}

TEST(PowerLever, WakesForAReservationThatIsToCome) {
  FakeSlurm slurm = quiet();
  Desk desk(slurm, "fifo+follow_load", with("power"));
  desk.live(200);
  ASSERT_EQ(slurm.nodes.at("v008").power, Power::off);
  slurm.reservations = {{.name = "soon", .nodes = {"v008"}, .start = slurm.now + 2h}};
  desk.live(6);
  EXPECT_EQ(slurm.nodes.at("v008").power, Power::off);
  slurm.reservations.front().start = slurm.now + 2min;
  desk.live(6);
  EXPECT_EQ(slurm.nodes.at("v008").power, Power::on);
  desk.live(300);
  EXPECT_EQ(slurm.nodes.at("v008").power, Power::on);
}

TEST(PowerLever, KeepsSoManyOn) {
  FakeSlurm slurm = quiet();
  Settings settings = with("power");
  settings.power.minimum_on = 6;
  Desk desk(slurm, "fifo+follow_load", settings);
  desk.live(300);
  EXPECT_EQ(count(slurm, Power::on), 6);
}

TEST(PowerLever, LeavesAloneWhatDoesNotObey) {
  FakeSlurm slurm = quiet();
  slurm.dead = {"v007", "v008"};
  Desk desk(slurm, "fifo+follow_load", with("power"));
  desk.live(200);
  ASSERT_FALSE(desk.driver().warnings().empty());
  EXPECT_EQ(desk.driver().warnings().front(),
            "power down had no effect on v007,v008: Almanac leaves these nodes alone until their "
            "state changes");
}

TEST(PowerLever, SaysWhyItCannotBeUsed) {
  const auto lever = make_lever("power");
  FakeSlurm slurm = quiet();
  const auto obstacle = [&](manager::Abilities can) {
    return lever->obstacle(*FakeLink(slurm).site(), can);
  };
  EXPECT_FALSE(obstacle({.power = true}));
  EXPECT_TRUE(obstacle({.power = false}));
  slurm.site.parameters["SuspendTime"] = "INFINITE";
  EXPECT_THAT(*obstacle({.power = true}), HasSubstr("SuspendTime"));
  slurm.site.parameters["ResumeProgram"] = "(null)";
  EXPECT_THAT(*obstacle({.power = true}), HasSubstr("ResumeProgram"));
}

TEST(PowerLever, SaysThatAPolicyKeepsAllOn) {
  FakeSlurm slurm = quiet();
  Desk desk(slurm, "fifo", with("power"));
  EXPECT_EQ(desk.step(), 0);
  ASSERT_FALSE(desk.driver().warnings().empty());
  EXPECT_THAT(desk.driver().warnings().front(), HasSubstr("keeps every node on"));
}

RC_GTEST_PROP(PowerLever, NeverPowersOffANodeWithAJobAndAllAreOnInTheEnd, ()) {
  FakeSlurm slurm = quiet();
  const auto policy =
      *rc::gen::element<std::string>("fifo+follow_load", "sjf+limit+ces_venus", "fifo+standby");
  Desk desk(slurm, policy, with("power"));
  const auto rounds = *rc::gen::inRange(1, 60);
  for (int round = 0; round < rounds; ++round) {
    if (*rc::gen::inRange(0, 3) == 0) {
      slurm.submit("ann", *rc::gen::inRange(1, 9), *rc::gen::inRange(1, 300) * 1min);
    }
    desk.step();
    for (const auto& [name, node] : slurm.nodes) {
      RC_ASSERT(!node.busy || node.power == Power::on);
    }
    slurm.pass(*rc::gen::inRange(1, 60) * 10s);
  }
  desk.set(Switch::off);
  desk.live(30);
  RC_ASSERT(count(slurm, Power::on) == 8);
}

}  // namespace
}  // namespace almanac::steer
