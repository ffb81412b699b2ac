// SPDX-License-Identifier: Apache-2.0

/// \file
/// Accounts and QOS as virtual clusters, and the GPUs that they may have.
#include "steer/quotas.h"

#include <gmock/gmock.h>

#include "desk.h"
#include "steer/record.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using manager::State;
using testing::ElementsAre;
using testing::SizeIs;

manager::Job job_of(const std::string& account, const std::string& user, const std::string& qos,
                    int gpus) {
  static std::uint32_t number = 0;
  return {.number = manager::JobNumber{++number},
          .user = user,
          .account = account,
          .partition = "p",
          .qos = qos,
          .state = State::running,
          .gpus = gpus,
          .holds = {{.node = "n", .gpu_count = gpus}}};
}

TEST(Quotas, AreHeldByWhatRunsAndByJobsThatARoundHasTakenOver) {
  Mirror mirror;
  manager::News news{.whole = true};
  manager::Job adopted = job_of("vision", "ann", "normal", 3);
  manager::Job completing = job_of("vision", "bob", "normal", 4);
  completing.state = State::completing;
  news.jobs = {adopted, completing, job_of("vision", "bob", "normal", 2)};
  news.limits = manager::Limits{.quotas = {{.account = "vision", .gpus = 6}}};
  mirror.take(std::move(news));
  Quotas quotas(mirror);
  EXPECT_TRUE(quotas.is_at(job_of("vision", "cid", "normal", 2)));
  EXPECT_FALSE(quotas.is_at(job_of("vision", "cid", "normal", 1)));
  EXPECT_FALSE(quotas.is_at(job_of("others", "cid", "normal", 9)));
  EXPECT_EQ(quotas.tightest(job_of("vision", "cid", "normal", 2)),
            "account vision has 5 of 6 GPUs");
  quotas.put(JobId{0}, adopted);
  quotas.hand_over(adopted);
  quotas.book().take(quotas.book().of(JobId{0}));
  EXPECT_EQ(quotas.book().held(0), 5);
  quotas.book().give_back(quotas.book().of(JobId{0}));
  EXPECT_EQ(quotas.book().held(0), 2);
}

TEST(Quotas, AreClaimedByThePastOfTheStore) {
  const TemporaryFolder folder;
  store::Store store = store::Store::open(folder / "jobs.sqlite").value();
  store::Store::Batch batch;
  manager::Job ended = job_of("vision", "ann", "normal", 2);
  ended.state = State::ended;
  ended.start = ended.submit;
  ended.end = ended.submit + 1h;
  manager::Job other = ended;
  other.number = manager::JobNumber{static_cast<std::uint32_t>(ended.number) + 1};
  other.account = "others";
  World world;
  world.grouping = Grouping::accounts;
  batch.put(to_stored(ended, world));
  batch.put(to_stored(other, world));
  ASSERT_TRUE(store.commit(batch));
  const manager::Limits limits{
      .quotas = {{.account = "vision", .user = "ann", .partition = "p", .gpus = 6}}};
  const auto past = past_of(store, world, limits);
  ASSERT_TRUE(past) << to_string(past.error());
  policy::Quotas quotas = past->quotas.of(past->log.jobs);
  EXPECT_EQ(quotas.of(JobId{1}), kNoClaim);
  quotas.take(quotas.of(JobId{0}));
  EXPECT_EQ(quotas.held(0), 2);
}

/// Two nodes of 8 GPUs. The lab may have 8 and has them; its jobs of 3, 2 and 1 hours wait, and
/// behind them one of others.
FakeSlurm limited() {
  FakeSlurm slurm;
  slurm.add_partition("v", 2, 8);
  slurm.limits.quotas = {{.account = "lab", .gpus = 8}};
  slurm.submit("ann", 8, 1h);
  slurm.pass(1s);
  for (int hours = 3; hours > 0; --hours) slurm.submit("ann", 8, hours * 1h);
  slurm.submit("bob", 8, 5h).account = "others";
  return slurm;
}

std::vector<std::uint32_t> numbers(const std::vector<manager::JobNumber>& jobs) {
  std::vector<std::uint32_t> made;
  for (const manager::JobNumber each : jobs) made.push_back(static_cast<std::uint32_t>(each));
  return made;
}

TEST(QuotasOfASlurm, HoldUpNoOtherJobAndAreOrderedWithin) {
  FakeSlurm slurm = limited();
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  const Decision& made = desk.decider().last();
  ASSERT_EQ(made.starts.size(), 1U);
  EXPECT_EQ(made.starts.front().job, manager::JobNumber{5});
  EXPECT_THAT(desk.line(), ElementsAre(5));
  EXPECT_THAT(numbers(made.lines.front().ranked), ElementsAre(5, 4, 3, 2));
  EXPECT_EQ(made.aside.at(manager::JobNumber{2}), Aside::at_quota);
  EXPECT_EQ(made.quotas.at(manager::JobNumber{2}), "account lab has 8 of 8 GPUs");
  slurm.pass(1s);
  EXPECT_EQ(slurm.job(5).state, State::running);
  slurm.pass(1h);
  EXPECT_EQ(slurm.job(4).state, State::running) << "the shortest, before we have looked again";
}

TEST(QuotasOfASlurm, LeaveRoomForTheJobThatIsFirstInTheOrderOfThePolicy) {
  FakeSlurm slurm;
  slurm.add_partition("v", 2, 8);
  slurm.limits.quotas = {{.account = "lab", .gpus = 8}};
  slurm.submit("ann", 4, 3h);
  slurm.submit("ann", 6, 2h);
  slurm.submit("ann", 2, 1h);
  slurm.submit("bob", 8, 5h).account = "others";
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  std::vector<manager::JobNumber> starts;
  for (const Decision::Start& each : desk.decider().last().starts) starts.push_back(each.job);
  EXPECT_THAT(numbers(starts), ElementsAre(3, 2, 4));
  EXPECT_THAT(numbers(desk.decider().last().lines.front().ranked), ElementsAre(3, 2, 4, 1));
}

TEST(QuotasOfASlurm, LetSomeTasksOfAnArrayStart) {
  FakeSlurm slurm;
  slurm.add_partition("v", 2, 8);
  slurm.limits.quotas = {{.account = "lab", .gpus = 5}};
  slurm.submit("ann", 2, 1h).tasks = "1-9";
  slurm.submit("ann", 2, 2h);
  Desk desk(slurm, "sjf+limit", with("order"));
  desk.step();
  EXPECT_EQ(desk.decider().last().starts.size(), 2U);
}

TEST(QuotasOfASlurm, KeepPlacementFromReleasingInVain) {
  FakeSlurm slurm = limited();
  Desk desk(slurm, "sjf+limit", with("placement"));
  for (int step = 0; step < 30; ++step) {
    desk.step();
    slurm.pass(10s);
    for (const std::uint32_t job : {2U, 3U, 4U}) ASSERT_TRUE(slurm.is_held(job)) << job;
  }
  EXPECT_EQ(slurm.job(5).state, State::running);
  desk.wait(1h);  // what is held is held anew all the time
  EXPECT_EQ(slurm.job(4).state, State::running);
  EXPECT_TRUE(slurm.is_held(2));
}

TEST(QuotasOfASlurm, KeepNoNodesAwake) {
  for (const bool is_at_quota : {true, false}) {
    FakeSlurm slurm = limited();
    slurm.site.parameters.insert(
        {{"SuspendProgram", "/off"}, {"ResumeProgram", "/on"}, {"SuspendTime", "2592000 sec"}});
    slurm.job(5).state = State::ended;
    if (!is_at_quota) {
      // Of others, and more than is free: what waits for nodes keeps them.
      slurm.limits.quotas.clear();
      for (const std::uint32_t job : {2U, 3U, 4U}) slurm.job(job).gpus = 16;
    }
    Desk desk(slurm, "fifo+follow_load", with("power"));
    desk.live(150);
    ASSERT_EQ(slurm.job(1).state, State::running);
    EXPECT_THAT(desk.line(), SizeIs(is_at_quota ? 0 : 3));
    EXPECT_EQ(slurm.nodes.at("v002").power, is_at_quota ? manager::Power::off : manager::Power::on);
    const int changes = slurm.changes;
    desk.live(100);
    EXPECT_EQ(slurm.changes, changes) << "nor is one woken";
  }
}

TEST(AccountsAsVirtualClusters, AreWhatJobsAreCalledByAndOwnNoNodes) {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  slurm.add_partition("w", 1, 8);
  slurm.submit("ann", 8, 2h, "v");
  slurm.submit("bob", 8, 1h, "v").account = "others";
  slurm.submit("ann", 8, 3h, "w").qos = "high";
  Settings settings = with("order");
  for (const auto by : {Grouping::accounts, Grouping::qos}) {
    settings.virtual_clusters = by;
    Desk desk(slurm, "sjf+limit", settings);
    desk.look();
    EXPECT_THAT(desk.line(0), ElementsAre(2, 1)) << "in one line, by partition";
    EXPECT_THAT(desk.line(1), ElementsAre(3));
    EXPECT_EQ(desk.decider().last().starts.size(), 2U);
    const World& world = *desk.decider().last().world;
    EXPECT_EQ(to_stored(slurm.job(2), world).asked->vc, by == Grouping::qos ? "normal" : "others");
    EXPECT_EQ(to_stored(slurm.job(3), world).asked->vc, by == Grouping::qos ? "high" : "lab");
    EXPECT_TRUE(world.of_the_past.takes_every_job);
  }
}

/// Of two switches with four nodes each, two of s1 and one of s2 are in use.
FakeSlurm switched() {
  FakeSlurm slurm;
  slurm.add_partition("v", 8, 8);
  for (auto& [name, node] : slurm.nodes) node.switches = name <= "v004" ? "s1" : "s2";
  for (const std::string used : {"v001", "v002", "v005"}) {
    manager::Job& job = slurm.submit("ann", 8, 5h);
    job.state = State::running;
    job.start = slurm.now;
    job.holds = {{.node = used, .gpus = 0xff, .gpu_count = 8}};
  }
  return slurm;
}

std::vector<std::string> nodes_of_the_last(Desk& desk) {
  const Decision& made = desk.decider().last();
  std::vector<std::string> names;
  for (const cluster::Grant& each : made.starts.back().held) {
    names.push_back(made.world->cluster.nodes[index(each.node)].name);
  }
  return names;
}

TEST(Switches, HaveAllNodesOfAJobWhereOneHasEnough) {
  FakeSlurm slurm = switched();
  slurm.submit("bob", 24, 1h).nodes = 3;
  Desk desk(slurm, "fifo", with("order"));
  desk.look();
  EXPECT_THAT(nodes_of_the_last(desk), ElementsAre("v006", "v007", "v008"));
  slurm.job(4).gpus = 16;
  slurm.job(4).nodes = 2;
  slurm.nodes.at("v003").drained = true;
  Desk smaller(slurm, "fifo", with("order"));
  smaller.look();
  EXPECT_THAT(nodes_of_the_last(smaller), ElementsAre("v006", "v007"));
}

TEST(Switches, CountNoNodeThatSleeps) {
  FakeSlurm slurm = switched();
  slurm.nodes.at("v008").power = manager::Power::off;
  slurm.submit("bob", 24, 1h).nodes = 3;
  Desk desk(slurm, "fifo", with("order"));
  desk.look();
  EXPECT_THAT(nodes_of_the_last(desk), ElementsAre("v003", "v004", "v006"));
}

TEST(Switches, DoNotKeepAJobWaiting) {
  FakeSlurm slurm = switched();
  slurm.submit("bob", 32, 1h).nodes = 4;
  Desk desk(slurm, "fifo", with("order"));
  desk.look();
  EXPECT_THAT(nodes_of_the_last(desk), ElementsAre("v003", "v004", "v006", "v007"));
}

}  // namespace
}  // namespace almanac::steer
