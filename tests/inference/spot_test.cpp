// SPDX-License-Identifier: Apache-2.0

/// \file
/// Services on instances that come and go: what is moved, what that takes, and when replicas are
/// ready, worked out by hand.
#include "inference/spot.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "inference/fleet.h"
#include "inference/registry.h"
#include "inference/spot_layout.h"

namespace almanac::inference {
namespace {

Service on_h100(const char* model) {
  auto found = find_model(model);
  EXPECT_TRUE(found);
  auto board = find_board("h100");
  EXPECT_TRUE(board);
  return {.model = *found, .board = *board};
}

/// One short request each second.
Requests trickle(int seconds) {
  Requests made;
  for (int each = 0; each < seconds; ++each) {
    made.all.push_back({.arrival = each * 1e6, .prompt = 100, .output = 10});
  }
  return made;
}

TEST(Shards, HaveInCommonWhatBothLayersAndPartsHave) {
  // A fourth of every layer, and half of each layer of the first half.
  EXPECT_DOUBLE_EQ(in_common({0, 1, 0, 4}, {0, 2, 0, 2}), 0.5 * 0.25);
  EXPECT_DOUBLE_EQ(in_common({0, 1, 0, 4}, {0, 2, 1, 2}), 0);
  EXPECT_DOUBLE_EQ(in_common({1, 2, 0, 1}, {1, 2, 0, 1}), 0.5);
}

TEST(Shards, GoToTheGpusThatHaveMostOfThem) {
  // Four GPUs with a fourth of each layer become two stages of two: each keeps half of what it has.
  const SpotLayout before{1, 1, 4}, after{1, 2, 2};
  const auto held = shards_of(before), wanted = shards_of(after);
  const auto places = assign_shards(4, 4, [&](std::size_t gpu, std::size_t shard) {
    return in_common(held[gpu], wanted[shard]);
  });
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 2, 1, 3}));
}

TEST(SpotLayouts, HaveTheLeastLatencyOfThoseThatCarryTheRate) {
  const Service service = on_h100("llama-3.1-8b");
  Requests requests;
  for (int each = 0; each < 300; ++each) {
    requests.all.push_back({.arrival = each * 1e5, .prompt = 500, .output = 100});
  }
  auto layouts = SpotLayouts::make(service, requests, 4, 4);
  ASSERT_TRUE(layouts) << to_string(layouts.error());
  // Four GPUs answer one request soonest together, and many requests fastest each alone.
  const SpotLayout slow = layouts->choose(4, 0.1), fast = layouts->choose(4, 1e9);
  EXPECT_EQ(slow.replicas, 1);
  EXPECT_EQ(slow.gpus, 4);
  EXPECT_EQ(fast.replicas, 4);
  EXPECT_EQ(fast.gpus, 1);
  // Without requests in the last minute the next one is expected to be alone.
  EXPECT_EQ(layouts->choose(4, 0).gpus, 4);
}

/// Six GPUs, each an instance; the model needs two, so it has three replicas. One GPU goes at
/// 100 s, and another is there at 200 s.
SpotCase six_then_five(SpotRule rule) {
  SpotCase made{.instances = std::vector<SpotInstance>(6), .gpus = 1, .grace = 10e6, .rule = rule};
  made.instances[4].until = 100e6;
  made.instances.push_back({.from = 200e6});
  return made;
}

TEST(Spot, MovesOnlyTheStageThatIsMissing) {
  const Service service = on_h100("llama-3.1-70b");
  const auto run = play_spot(service, trickle(400), six_then_five(SpotRule::migrate));
  ASSERT_TRUE(run) << to_string(run.error());
  for (const Outcome& each : run->outcomes) EXPECT_LT(each.finish, kNever);
  ASSERT_EQ(run->steps.size(), 3);
  EXPECT_EQ(run->steps[0].layout.replicas, 3);
  EXPECT_EQ(run->steps[0].layout.stages, 2);
  EXPECT_EQ(run->steps[0].layout.gpus, 1);
  // The third replica computes until the grace period is nearly over.
  EXPECT_EQ(run->steps[1].layout.replicas, 2);
  EXPECT_NEAR(run->steps[1].at, 100e6, 0.3e6);
  // Its last GPU still has a stage. The new one starts its engine, and gets the other stage, half
  // of the weights, over its link.
  EXPECT_EQ(run->steps[2].layout.replicas, 3);
  const double moved_s = service.model.bytes() / 2 / service.link_bytes_per_s;
  EXPECT_NEAR(run->steps[2].at, 1e6 * (200 + 30 + moved_s), 1);
  EXPECT_EQ(run->stopped_s, 0);
}

TEST(Spot, RestartsEverythingOrReroutesAsTheSystemsBefore) {
  const Service service = on_h100("llama-3.1-70b");
  // 30 s for the engine. The two GPUs of a replica are two instances, each of which reads half of
  // the weights from its own disk at 5 GB/s, at the same time as the other.
  const double start_s = 30 + service.model.bytes() / 2 / 5e9;
  const auto restart = play_spot(service, trickle(400), six_then_five(SpotRule::restart));
  ASSERT_TRUE(restart);
  EXPECT_NEAR(restart->stopped_s, 2 * start_s, 1e-6);
  const auto reroute = play_spot(service, trickle(400), six_then_five(SpotRule::reroute));
  ASSERT_TRUE(reroute);
  EXPECT_EQ(reroute->stopped_s, 0);
  ASSERT_EQ(reroute->steps.size(), 3);
  EXPECT_NEAR(reroute->steps[1].at, 100e6, 1);
  EXPECT_NEAR(reroute->steps[2].at, 1e6 * (200 + start_s), 1);
  for (const auto* run : {&restart, &reroute}) {
    for (const Outcome& each : (*run)->outcomes) EXPECT_LT(each.finish, kNever);
  }
}

/// One long answer on the first of two GPUs, which is taken away at 20 s.
SpotRun one_leaves(double link, Micros grace) {
  Service service = on_h100("llama-3.1-8b");
  service.link_bytes_per_s = link;
  SpotCase spot{.instances = std::vector<SpotInstance>(2), .gpus = 1, .grace = grace};
  spot.instances[0].until = 20e6;
  Requests requests;
  requests.all.push_back({.arrival = 0, .prompt = 1000, .output = 8000});
  auto run = play_spot(service, requests, spot);
  EXPECT_TRUE(run);
  // One request is answered soonest without stages.
  EXPECT_EQ(run->steps[0].layout.replicas, 2);
  EXPECT_EQ(run->steps[0].layout.replica_gpus(), 1);
  return *std::move(run);
}

TEST(Spot, KeepsTheKvCacheWithinTheGracePeriod) {
  // Some 4,000 tokens of 131,072 bytes over a link of 100 MB/s: 5 of the 10 s.
  const SpotRun run = one_leaves(1e8, 10e6);
  EXPECT_EQ(run.kept, 1);
  EXPECT_EQ(run.computed, 0);
  const Outcome& seen = run.outcomes[0];
  EXPECT_EQ(seen.preemptions, 0);
  // It computed until then, and the other replica continues by 20 s.
  ASSERT_EQ(run.steps.size(), 2);
  const double stopped_s = run.steps[1].at / 1e6;
  EXPECT_NEAR(seen.longest_gap / 1e6, 20 - stopped_s, 0.3);
  EXPECT_GT(seen.longest_gap / 1e6, 3);
}

TEST(Spot, ComputesTheKvCacheAgainIfTheNoticeIsTooShort) {
  const SpotRun run = one_leaves(1e8, 1e6);
  EXPECT_EQ(run.kept, 0);
  EXPECT_EQ(run.computed, 1);
  // One prefill of all tokens so far, which takes far less than to send them.
  EXPECT_LT(run.outcomes[0].longest_gap, 1e6);
  EXPECT_LT(run.outcomes[0].finish, one_leaves(1e8, 10e6).outcomes[0].finish);
  // With a fast link nothing is computed again.
  EXPECT_EQ(one_leaves(25e9, 1e6).kept, 1);
}

TEST(Spot, ContinuesFromDiskWhenAllInstancesWereGone) {
  const Service service = on_h100("llama-3.1-8b");
  SpotCase spot{.instances = {{.from = 0, .until = 50e6}, {.from = 100e6}}, .gpus = 1};
  const auto run = play_spot(service, trickle(150), spot);
  ASSERT_TRUE(run);
  for (const Outcome& each : run->outcomes) EXPECT_LT(each.finish, kNever);
  EXPECT_NEAR(run->stopped_s, 100 + 30 + service.model.bytes() / 5e9 - 50, 1e-6);
  EXPECT_NEAR(run->gpu_s, 50 + run->outcomes.back().finish / 1e6 - 100, 1e-6);
}

TEST(Spot, ReadsFromAllDisksOfAReplicaAtTheSameTime) {
  // The model needs two GPUs: of one instance and its disk, or of two.
  const Service service = on_h100("llama-3.1-70b");
  for (const int gpus : {1, 2}) {
    SpotCase spot{.gpus = gpus};
    for (int each = gpus; each <= 2; ++each) {
      spot.instances.push_back({.from = 0, .until = 50e6});
      spot.instances.push_back({.from = 100e6});
    }
    const auto run = play_spot(service, trickle(150), spot);
    ASSERT_TRUE(run);
    const double read_s = service.model.bytes() * gpus / 2 / 5e9;
    EXPECT_NEAR(run->stopped_s, 100 + 30 + read_s - 50, 1e-6);
  }
}

TEST(Spot, CountsInTheFirstMinuteWhatHasArrived) {
  // Ten requests each second, and after 30 s more than eight GPUs can answer: a prompt of 4,000
  // tokens is 64 TFLOP, of which they do at most 124 each second.
  const Service service = on_h100("llama-3.1-8b");
  Requests requests;
  for (int each = 0; each < 6000; ++each) {
    requests.all.push_back({.arrival = std::min(each, 300) * 1e5, .prompt = 4000, .output = 20});
  }
  const SpotCase spot{.instances = {{}, {.from = 25e6}}, .gpus = 4, .rule = SpotRule::restart};
  const auto run = play_spot(service, requests, spot);
  ASSERT_TRUE(run) << to_string(run.error());
  auto layouts = SpotLayouts::make(service, requests, 4, 8);
  ASSERT_TRUE(layouts);
  const SpotLayout counted = layouts->choose(8, 10), mean = layouts->choose(8, 5999 / 30.0);
  ASSERT_FALSE(counted.is_divided_like(mean));
  EXPECT_TRUE(run->steps.front().layout.is_divided_like(layouts->choose(4, 5999 / 30.0)));
  EXPECT_TRUE(run->steps.back().layout.is_divided_like(counted));
}

/// Instances of one GPU, on each of which the model fits alone.
SpotCase instances_of_one(std::vector<SpotInstance> instances, SpotRule rule, Micros grace) {
  return {.instances = std::move(instances), .gpus = 1, .grace = grace, .rule = rule};
}

TEST(Spot, StopsWhenTheOnlyReplicaIsLostDuringAMigration) {
  // The second instance starts its engine by 130 s. The weights, 16.1 GB, would come from the
  // first over 50 MB/s within 321 s, but that one is gone at 300 s: they are read from disk.
  Service service = on_h100("llama-3.1-8b");
  service.link_bytes_per_s = 5e7;
  const auto spot =
      instances_of_one({{.from = 0, .until = 300e6}, {.from = 100e6}}, SpotRule::migrate, 30e6);
  const auto run = play_spot(service, trickle(400), spot);
  ASSERT_TRUE(run) << to_string(run.error());
  const double read_s = service.model.bytes() / 5e9;
  ASSERT_EQ(run->steps.size(), 3);
  EXPECT_EQ(run->steps[0].layout.replicas, 1);
  EXPECT_EQ(run->steps[1].layout.replicas, 0);
  EXPECT_NEAR(run->steps[1].at, 300e6, 1);
  EXPECT_EQ(run->steps[2].layout.replicas, 1);
  EXPECT_NEAR(run->steps[2].at, 1e6 * (300 + read_s), 1);
  EXPECT_NEAR(run->stopped_s, read_s, 1e-6);
  for (const Outcome& each : run->outcomes) EXPECT_LT(each.finish, kNever);
  // What is asked at 300 s or just before waits for the weights; what came before did not.
  EXPECT_LT(run->outcomes[298].finish, 300e6);
  EXPECT_GT(run->outcomes[300].finish, 1e6 * (300 + read_s));
}

TEST(Spot, StopsForeverWhenAllInstancesAreGone) {
  const Service service = on_h100("llama-3.1-8b");
  for (const SpotRule rule : {SpotRule::migrate, SpotRule::restart, SpotRule::reroute}) {
    // One more instance comes, but is gone before an engine could start.
    const auto spot =
        instances_of_one({{.from = 0, .until = 50.5e6}, {.from = 60e6, .until = 70e6}}, rule, 5e6);
    const Requests requests = trickle(150);
    FleetPlan plan{.service = service, .spot = spot};
    const auto fleet = play_fleet(plan, requests, {});
    ASSERT_TRUE(fleet) << to_string(fleet.error());
    // The requests of 0 to 50 s are answered. The last one comes at 149 s.
    EXPECT_EQ(fleet->seen.finished, 51);
    EXPECT_NEAR(fleet->spot->stopped_s, 149 - 50.5, 1e-6);
    EXPECT_NEAR(fleet->seen.span, 149e6, 1);
    EXPECT_NEAR(fleet->gpu_hours, (50.5 + 10) / 3600, 1e-9);
    EXPECT_EQ(fleet->spot->steps.back().layout.replicas, 0);
    EXPECT_EQ(fleet->spot->steps.back().gpus, 0);
  }
}

TEST(Spot, SaysWhyThereIsNoReplica) {
  // The model needs two GPUs. One of three instances goes at 50 s, a second at 90 s, the last at
  // 130 s; a fourth comes then.
  const auto spot = instances_of_one({{.from = 0, .until = 90e6},
                                      {.from = 0, .until = 50e6},
                                      {.from = 0, .until = 130e6},
                                      {.from = 130e6}},
                                     SpotRule::migrate, 5e6);
  const auto run = play_spot(on_h100("llama-3.1-70b"), trickle(200), spot);
  ASSERT_TRUE(run) << to_string(run.error());
  const SpotStep& last = run->steps.back();
  EXPECT_EQ(last.layout.replicas, 0);
  EXPECT_GE(last.at, 85e6);
  EXPECT_EQ(last.gpus, 1);
  EXPECT_EQ(last.needed, 2);
}

TEST(Spot, EndsWithTheLastAnswer) {
  // The only instance goes long after the ten requests are answered.
  const Service service = on_h100("llama-3.1-8b");
  for (const SpotRule rule : {SpotRule::migrate, SpotRule::restart, SpotRule::reroute}) {
    const auto spot = instances_of_one({{.from = 0, .until = 1e6 * 1e6}}, rule, 30e6);
    const auto run = play_spot(service, trickle(10), spot);
    ASSERT_TRUE(run) << to_string(run.error());
    EXPECT_EQ(run->steps.size(), 1);
    EXPECT_EQ(run->changes, 0);
    EXPECT_EQ(run->stopped_s, 0);
  }
}

TEST(Spot, SaysThatTheInstancesAtOneTimeAreTooFew) {
  // The model needs two GPUs, and of three instances only one is there at a time.
  const auto spot =
      instances_of_one({{.from = 0, .until = 50e6}, {.from = 50e6, .until = 90e6}, {.from = 90e6}},
                       SpotRule::migrate, 30e6);
  EXPECT_EQ(most_at_once(spot.instances), 1);
  const auto run = play_spot(on_h100("llama-3.1-70b"), trickle(10), spot);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::unavailable);
  EXPECT_EQ(to_string(run.error()),
            "llama-3.1-70b does not fit on 1 GPU of h100, the most at one time (use more "
            "instances at the same time, or more --instance-gpus)");
}

TEST(Spot, FillsAnInstanceThatComesDuringAGracePeriod) {
  // Notice at 140 s for 200 s; the third instance can be used at 150 s and has the weights after
  // 16.1 GB over 25 GB/s. The second one computes almost until it goes.
  const Service service = on_h100("llama-3.1-8b");
  const auto spot =
      instances_of_one({{}, {.from = 0, .until = 200e6}, {.from = 120e6}}, SpotRule::migrate, 60e6);
  const auto run = play_spot(service, trickle(300), spot);
  ASSERT_TRUE(run) << to_string(run.error());
  ASSERT_EQ(run->steps.size(), 3);
  EXPECT_EQ(run->steps[0].layout.replicas, 2);
  EXPECT_EQ(run->steps[1].layout.replicas, 3);
  EXPECT_NEAR(run->steps[1].at, 1e6 * (150 + service.model.bytes() / 25e9), 1);
  EXPECT_EQ(run->steps[2].layout.replicas, 2);
  EXPECT_NEAR(run->steps[2].at, 200e6, 0.3e6);
  EXPECT_LE(run->steps[2].at, 200e6);
  EXPECT_EQ(run->stopped_s, 0);
}

TEST(Spot, ReadsFromDiskDuringAGracePeriodThatIsTooShortToSend) {
  // The only instance goes at 200 s. The next one can be used at 190 s, and 16.1 GB over 1 GB/s
  // would take 16 s, but 3.2 s from its disk.
  Service service = on_h100("llama-3.1-8b");
  service.link_bytes_per_s = 1e9;
  const auto spot =
      instances_of_one({{.from = 0, .until = 200e6}, {.from = 160e6}}, SpotRule::migrate, 60e6);
  const auto run = play_spot(service, trickle(300), spot);
  ASSERT_TRUE(run) << to_string(run.error());
  ASSERT_EQ(run->steps.size(), 3);
  EXPECT_EQ(run->steps[1].layout.replicas, 2);
  EXPECT_NEAR(run->steps[1].at, 1e6 * (190 + service.model.bytes() / 5e9), 1);
  EXPECT_EQ(run->steps[2].layout.replicas, 1);
  EXPECT_EQ(run->stopped_s, 0);
}

TEST(Spot, RestartsOnceAroundAReplacement) {
  // One of two goes at 50 s, and its replacement comes 10 s into the restart, which then begins
  // again for both.
  const Service service = on_h100("llama-3.1-8b");
  const auto spot =
      instances_of_one({{}, {.from = 0, .until = 50e6}, {.from = 60e6}}, SpotRule::restart, 30e6);
  const auto run = play_spot(service, trickle(200), spot);
  ASSERT_TRUE(run) << to_string(run.error());
  const double start_s = 30 + service.model.bytes() / 5e9;
  EXPECT_NEAR(run->stopped_s, 10 + start_s, 1e-6);
  ASSERT_EQ(run->steps.size(), 3);
  EXPECT_NEAR(run->steps[2].at, 1e6 * (60 + start_s), 1);
  EXPECT_EQ(run->steps[2].layout.replicas, 2);
  EXPECT_EQ(run->changes, 2);
}

TEST(Spot, TakesARuleOfACompositionAndNoScaler) {
  FleetPlan plan{.spot = SpotCase{}};
  ASSERT_TRUE(compose("chunked+restart", plan));
  EXPECT_EQ(plan.spot->rule, SpotRule::restart);
  const auto scaled = compose("migrate+reactive", plan);
  ASSERT_FALSE(scaled);
  EXPECT_EQ(scaled.error().code, Code::usage);
  EXPECT_NE(to_string(scaled.error()).find("leave out reactive"), std::string::npos);
  const auto wrong = compose("migrat", plan);
  ASSERT_FALSE(wrong);
  EXPECT_NE(to_string(wrong.error()).find("did you mean migrate?"), std::string::npos);
}

TEST(Fleets, HaveOneRuleOfAKind) {
  const auto refused = [](const char* composition, bool is_spot) {
    FleetPlan plan;
    if (is_spot) plan.spot = SpotCase{};
    const auto made = compose(composition, plan);
    return made ? std::string() : to_string(made.error());
  };
  EXPECT_NE(refused("least_tokens+round_robin", false).find("names two routers, least_tokens and "),
            std::string::npos);
  EXPECT_NE(refused("chunked+prefill_first", false).find("names two batchers, "),
            std::string::npos);
  EXPECT_NE(refused("chunked+reactive+mark", false).find("names two scalers, reactive and mark"),
            std::string::npos);
  EXPECT_NE(refused("1p+2p", false).find("names two numbers of prefill replicas"),
            std::string::npos);
  EXPECT_NE(refused("migrate+restart", true).find("names two rules for spot instances, migrate"),
            std::string::npos);
  EXPECT_EQ(refused("chunked+least_tokens+reactive+2p", false), "");
  EXPECT_EQ(refused("chunked+least_tokens+migrate", true), "");
  EXPECT_NE(refused("2p+migrate", true).find("leave out 2p"), std::string::npos);
  EXPECT_NE(refused("migrate", false).find("is a rule for spot instances, and there are none"),
            std::string::npos);
}

TEST(Spot, ReadsInstances) {
  const std::string path = testing::TempDir() + "spot_test.csv";
  std::ofstream(path) << "from_s,until_s\n0,\n12.5,60\n";
  const auto read = read_spot(path);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2);
  EXPECT_EQ((*read)[0].until, kNever);
  EXPECT_EQ((*read)[1].from, 12.5e6);
  EXPECT_EQ((*read)[1].until, 60e6);
  std::ofstream(path) << "from_s,until_s\n60,60\n";
  const auto wrong = read_spot(path);
  ASSERT_FALSE(wrong);
  EXPECT_NE(to_string(wrong.error()).find("until_s"), std::string::npos);
}

}  // namespace
}  // namespace almanac::inference
