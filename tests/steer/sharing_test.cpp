// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs of shards under the lever `sharing`: alone, beside a harmless other, or waiting; whatever
/// GPU Slurm gives them, never beside one that they harm.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "desk.h"
#include "perf/catalogue_file.h"
#include "steer/mark.h"

namespace almanac::steer {
namespace {

using manager::State;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kPolicy = "fifo+harmless";

/// Two "quiet" jobs keep 0.94 of their speed on a GPU, beside a "loud" one no job does.
std::shared_ptr<const perf::Catalogue> speeds() {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  const std::string folder = source == nullptr ? "." : source;
  return std::make_shared<const perf::Catalogue>(
      perf::read_catalogue(folder + "/tests/support/linear.toml").value());
}

/// Nodes v001 ... of two GPUs, each of two shards.
FakeSlurm cluster_of(int nodes) {
  FakeSlurm slurm;
  slurm.add_partition("v", nodes, 2);
  for (auto& [name, node] : slurm.nodes) node.shards = 4;
  slurm.site.parameters["GresTypes"] = "gpu,shard";
  return slurm;
}

int gpu_of(FakeSlurm& slurm, std::uint32_t job) {
  const manager::Job& it = slurm.job(job);
  if (it.holds.empty()) return -1;
  return it.holds.front().gpus == 1 ? 0 : 1;
}

TEST(Sharing, BringsHarmlessJobsTogetherWhenThereIsNoFreeGpu) {
  FakeSlurm slurm = cluster_of(1);
  for (int job = 0; job < 4; ++job) slurm.submit_shards("quiet", 1, 1h);
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  desk.live(3);
  EXPECT_EQ(gpu_of(slurm, 1), 0);
  EXPECT_EQ(slurm.job(1).shards, 1) << "the first stays open to a second";
  EXPECT_EQ(gpu_of(slurm, 2), 1);
  EXPECT_EQ(slurm.job(2).shards, 2) << "with one shard it would have come to job 1";
  EXPECT_EQ(gpu_of(slurm, 3), 0) << "no GPU is free, and beside job 1 it harms none";
  EXPECT_TRUE(slurm.is_held(4)) << "no job could be joined";
  EXPECT_EQ(desk.step(), 0);
}

TEST(Sharing, LetsNoJobHarmAnother) {
  FakeSlurm slurm = cluster_of(1);
  slurm.submit_shards("loud", 1, 1h);
  slurm.submit_shards("quiet", 1, 2h);
  slurm.submit_shards("quiet", 1, 1h);
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  desk.live(3);
  EXPECT_TRUE(slurm.is_held(3)) << "only the loud one could be joined";
  slurm.pass(1h);
  desk.live(2);
  EXPECT_EQ(gpu_of(slurm, 3), 0);
  EXPECT_EQ(gpu_of(slurm, 2), 1);
}

TEST(Sharing, LeavesAloneAJobThatAsksAllShardsOfAGpu) {
  FakeSlurm slurm = cluster_of(1);
  slurm.submit_shards("quiet", 2, 1h);
  slurm.submit_shards("quiet", 2, 1h);
  slurm.submit_shards("quiet", 1, 1h);
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  desk.live(4);
  EXPECT_EQ(slurm.job(1).state, State::running);
  EXPECT_EQ(slurm.job(2).state, State::running);
  EXPECT_TRUE(slurm.is_held(3));
}

TEST(Sharing, JoinsNoJobWhereJobsOfWholeGpusMayCome) {
  FakeSlurm slurm = cluster_of(1);
  slurm.submit("bob", 1, 1h);
  slurm.pass(1s);
  slurm.submit_shards("quiet", 1, 1h);
  slurm.submit_shards("quiet", 1, 1h);
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  desk.live(3);
  EXPECT_EQ(slurm.job(2).state, State::running);
  EXPECT_EQ(slurm.job(2).shards, 2) << "no other job is ever to be on its GPU";
  EXPECT_TRUE(slurm.is_held(3));
  EXPECT_EQ(slurm.job(1).comment, "") << "jobs of whole GPUs are none of ours";
}

TEST(Sharing, GivesArraysAndWhatThePolicyCannotPlaceGpusToThemselves) {
  FakeSlurm slurm = cluster_of(2);
  slurm.submit_shards("quiet", 1, 1h).tasks = "1-2";
  slurm.submit_shards("quiet", 1, 1h).features = "[nvlink]";
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  desk.step();
  for (const std::uint32_t job : {1U, 2U}) {
    EXPECT_FALSE(slurm.is_held(job));
    EXPECT_EQ(slurm.job(job).required_nodes, "");
    EXPECT_EQ(slurm.job(job).shards, 2);
  }
}

TEST(Sharing, DoesNotJoinExemptJobsNorTouchThem) {
  FakeSlurm slurm = cluster_of(1);
  slurm.submit_shards("quiet", 1, 1h).user = "root";
  slurm.pass(1s);
  slurm.submit_shards("quiet", 2, 1h);
  slurm.submit_shards("quiet", 1, 1h);
  Settings settings = with("sharing");
  settings.exempt.users = {"root"};
  Desk desk(slurm, kPolicy, settings, speeds());
  desk.live(3);
  EXPECT_EQ(slurm.job(1).comment, "");
  EXPECT_EQ(slurm.job(1).state, State::running);
  EXPECT_TRUE(slurm.is_held(3));
}

TEST(Sharing, OpensNoGpuWhereSlurmMayPutAnybody) {
  FakeSlurm slurm = cluster_of(1);
  slurm.submit_shards("quiet", 1, 1h).comment = "ask carol first";
  slurm.submit_shards("loud", 1, 1h);
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  desk.step();
  EXPECT_EQ(slurm.job(2).shards, 2);
  EXPECT_EQ(slurm.job(1).shards, 1);
}

TEST(Sharing, RisksNoJobThatMayNotBeRequeued) {
  for (const bool requeueable : {true, false}) {
    FakeSlurm slurm = cluster_of(2);
    for (int job = 0; job < 4; ++job) slurm.submit_shards("quiet", 1, 10h);
    Desk desk(slurm, kPolicy, with("sharing"), speeds());
    desk.live(2);
    slurm.submit_shards("quiet", 1, 10h);
    slurm.submit_shards("quiet", 1, 10h);
    desk.live(2);
    ASSERT_EQ(slurm.job(6).state, State::running) << "two pairs and two alone";
    // Where a pair is one may end any time, and then two GPUs are open.
    slurm.submit_shards("quiet", 1, 1h).requeueable = requeueable;
    std::uint32_t alone = 0;
    for (std::uint32_t job = 1; job <= 4; ++job) {
      const bool is_closed =
          slurm.job(job).shards == 2 && slurm.job(job).holds.front().node == "v001";
      if (is_closed) alone = job;
    }
    ASSERT_NE(alone, 0U);
    slurm.job(alone).state = State::ended;
    slurm.job(alone).end = slurm.now;
    desk.step();
    EXPECT_EQ(slurm.job(7).shards, requeueable ? 1 : 2);
  }
}

TEST(Sharing, GivesAllBackWhenItIsTurnedOffOrDryOrUndone) {
  for (const std::string how : {"off", "dry", "undo", "undo by another"}) {
    FakeSlurm slurm = cluster_of(1);
    for (int job = 0; job < 3; ++job) slurm.submit_shards("quiet", 1, 1h);
    Desk desk(slurm, kPolicy, with("sharing"), speeds());
    desk.step();
    ASSERT_EQ(slurm.job(2).shards, 2);
    ASSERT_TRUE(slurm.is_held(3));
    if (how == "undo by another") desk.open();
    if (how == "off" || how == "dry") {
      desk.set(*parse_switch(how));
      desk.step();
      EXPECT_EQ(desk.step(), 0) << how;
    } else {
      desk.undo();
    }
    for (const std::uint32_t job : {1U, 2U, 3U}) {
      EXPECT_FALSE(slurm.is_held(job)) << how;
      EXPECT_EQ(slurm.job(job).shards, 1) << how;
      EXPECT_EQ(slurm.job(job).required_nodes, "") << how;
      EXPECT_EQ(slurm.job(job).comment, "") << how;
    }
  }
}

TEST(Sharing, TakesBackAJobThatDoesNotStartWithWhatItAsked) {
  FakeSlurm slurm = cluster_of(1);
  slurm.submit_shards("quiet", 1, 1h);
  slurm.submit_shards("quiet", 1, 1h);
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  bool taken_back = false;
  for (int step = 0; step < 60; ++step) {
    desk.step();
    slurm.now += 10s;  // and nothing starts
    if (!slurm.is_held(2)) continue;
    taken_back = true;
    EXPECT_EQ(slurm.job(2).shards, 1);
  }
  EXPECT_TRUE(taken_back);
  EXPECT_FALSE(slurm.is_held(2)) << "left to Slurm in the end";
  EXPECT_EQ(slurm.job(2).comment, "");
  EXPECT_EQ(slurm.job(2).shards, 1);
}

/// Two jobs on one GPU, brought there by Slurm itself.
FakeSlurm together(const std::string& second, bool ours) {
  FakeSlurm slurm = cluster_of(1);
  slurm.submit_shards("loud", 1, 10h);
  slurm.pass(1h);
  manager::Job& job = slurm.submit_shards(second, 1, 10h);
  if (ours) job.comment = kMark;
  slurm.pass(1s);
  return slurm;
}

TEST(Sharing, PartsJobsThatItHasBroughtTogetherByMistakeOnce) {
  FakeSlurm slurm = together("quiet", true);
  ASSERT_EQ(gpu_of(slurm, 2), 0);
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  desk.step();
  EXPECT_EQ(slurm.job(2).state, State::pending);
  EXPECT_EQ(slurm.job(2).restarts, 1);
  EXPECT_EQ(slurm.job(1).state, State::running);
  desk.live(4);
  EXPECT_EQ(gpu_of(slurm, 2), 1);
}

TEST(Sharing, OnlyTellsQueueChangesThatItMayNotPart) {
  const auto warning = [](FakeSlurm& slurm) -> std::string {
    Desk desk(slurm, kPolicy, with("sharing"), speeds());
    desk.step();
    EXPECT_EQ(slurm.job(2).state, State::running);
    const auto said = desk.driver().warnings();
    return said.empty() ? "" : said.front();
  };
  FakeSlurm of_others = together("quiet", false);
  EXPECT_EQ(warning(of_others),
            "jobs 1, 2 are on GPU 0 of v001: one runs at 0.50 of its speed alone");
  FakeSlurm for_long = together("quiet", true);
  for_long.pass(10min);
  EXPECT_THAT(warning(for_long), HasSubstr("jobs 1, 2"));
  FakeSlurm parted_before = together("quiet", true);
  parted_before.job(2).restarts = 1;
  EXPECT_THAT(warning(parted_before), HasSubstr("jobs 1, 2"));
  FakeSlurm not_requeueable = together("quiet", true);
  not_requeueable.job(2).requeueable = false;
  EXPECT_THAT(warning(not_requeueable), HasSubstr("jobs 1, 2"));
  // As Slurm does when one of two jobs on a GPU has ended.
  FakeSlurm whole = together("quiet", false);
  whole.job(2).gpus = 1;
  whole.job(2).shards = 0;
  whole.job(2).holds.front().gpu_count = 1;
  whole.job(2).holds.front().shards = 0;
  EXPECT_THAT(warning(whole), HasSubstr("one requested the whole GPU"));
}

TEST(Sharing, LeavesJobsOfWholeGpusToPlacement) {
  FakeSlurm slurm = cluster_of(1);
  slurm.submit("bob", 2, 1h);
  slurm.pass(1s);
  slurm.submit("bob", 1, 1h);
  slurm.submit_shards("quiet", 1, 1h);
  Settings settings = with("placement");
  settings.levers["sharing"] = Switch::on;
  Desk desk(slurm, kPolicy, settings, speeds());
  EXPECT_EQ(desk.step(), 2);
  EXPECT_TRUE(slurm.is_held(2));
  EXPECT_TRUE(slurm.is_held(3));
  EXPECT_EQ(desk.step(), 0);
  desk.driver().set("sharing", Switch::off);
  EXPECT_EQ(desk.step(), 0) << "placement has them all now";
  EXPECT_TRUE(slurm.is_held(3));
  desk.driver().set("placement", Switch::off);
  EXPECT_EQ(desk.step(), 2);
  EXPECT_FALSE(slurm.is_held(3));
}

TEST(Sharing, SaysWhatIsMissing) {
  const auto rests = [](FakeSlurm slurm, const char* policy,
                        std::shared_ptr<const perf::Catalogue> known) {
    Desk desk(slurm, policy, with("sharing"), std::move(known));
    slurm.submit_shards("quiet", 1, 1h);
    desk.step();
    EXPECT_FALSE(slurm.is_held(1));
    return desk.state().rests;
  };
  FakeSlurm no_shards = cluster_of(1);
  no_shards.site.parameters["GresTypes"] = "gpu";
  EXPECT_THAT(rests(no_shards, kPolicy, speeds()), HasSubstr("GresTypes"));
  EXPECT_THAT(rests(cluster_of(1), "fifo", speeds()), HasSubstr("fifo+harmless does"));
  EXPECT_THAT(rests(cluster_of(1), kPolicy, nullptr), HasSubstr("--speed"));
  FakeSlurm one_shard = cluster_of(1);
  one_shard.nodes.at("v001").shards = 2;
  EXPECT_THAT(rests(one_shard, kPolicy, speeds()), HasSubstr("two shards"));
  EXPECT_EQ(rests(cluster_of(1), kPolicy, speeds()), "");
}

/// The jobs of each GPU.
std::vector<std::vector<const manager::Job*>> crowds_of(const FakeSlurm& slurm) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<const manager::Job*>> there;
  for (const auto& [number, one] : slurm.jobs) {
    if (one.job.state != State::running) continue;
    const manager::Held& held = one.job.holds.front();
    there[{held.node, held.gpus}].push_back(&one.job);
  }
  std::vector<std::vector<const manager::Job*>> made;
  for (auto& [gpu, jobs] : there) made.push_back(std::move(jobs));
  return made;
}

bool is_loud(const std::vector<const manager::Job*>& jobs) {
  return std::any_of(jobs.begin(), jobs.end(), [](const auto* job) { return job->name == "loud"; });
}

RC_GTEST_PROP(SharingProperty, LeavesNoJobBesideOneThatItHarmsWhateverGpuSlurmChooses, ()) {
  FakeSlurm slurm = cluster_of(*rc::gen::inRange(1, 4));
  Desk desk(slurm, kPolicy, with("sharing"), speeds());
  int pairs = 0;
  for (int step = 0; step < 40; ++step) {
    slurm.last_gpu_first = *rc::gen::arbitrary<bool>();
    for (int more = *rc::gen::inRange(0, 3); more > 0; --more) {
      const char* const name = *rc::gen::element("quiet", "quiet", "loud");
      manager::Job& job =
          slurm.submit_shards(name, *rc::gen::inRange(1, 3), *rc::gen::inRange(1, 20) * 20s);
      // As the plugin holds newcomers.
      slurm.hold_newcomer(static_cast<std::uint32_t>(job.number));
      job.requeueable = *rc::gen::arbitrary<bool>();
    }
    desk.step();
    for (const auto& jobs : crowds_of(slurm)) RC_ASSERT(jobs.size() < 2U || !is_loud(jobs));
    slurm.pass(10s);
    for (const auto& jobs : crowds_of(slurm)) {
      RC_ASSERT(jobs.size() <= 2U);
      pairs += jobs.size() == 2;
    }
  }
  RC_CLASSIFY(pairs > 0, "some share");
}

}  // namespace
}  // namespace almanac::steer
