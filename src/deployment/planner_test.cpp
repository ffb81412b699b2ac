// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which variants planners put where: what must hold of every plan, and cases by hand.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "deployment/bandit.h"
#include "deployment/cascade.h"
#include "deployment/deployment.h"
#include "deployment/overlap.h"
#include "deployment/registry.h"
#include "deployment/replay.h"

namespace almanac::deployment {
namespace {

Result<Deployment> planned(const std::string& name, const PlanningCase& asked) {
  return registry().planners.find(name)->make.plan(asked);
}

/// Variants of two tasks, the more accurate the slower, and services that some fleets are too few
/// for.
PlanningCase drawn(std::uint64_t seed, bool mig) {
  Rng rng(seed);
  PlanningCase made;
  for (const char* task : {"see", "hear"}) {
    const auto count = 1 + rng.below(4);
    for (std::uint64_t each = 0; each < count; ++each) {
      const auto size = static_cast<double>(each + 1);
      made.variants.push_back({.name = task + std::to_string(each),
                               .task = task,
                               .accuracy = 0.6 + 0.08 * size,
                               .fixed_ms = 1 + rng.uniform() * size,
                               .item_ms = 0.2 + rng.uniform() * size,
                               .knee = 0.1 + 0.9 * rng.uniform(),
                               .most_batch = 1 + static_cast<int>(rng.below(32)),
                               .memory_gib = 0.5 + 3 * rng.uniform(),
                               .load_s = 0.5 + rng.uniform(),
                               .busy_w = 100 + 200 * rng.uniform()});
    }
    TaskService service{.task = task,
                        .rate = 10 + 500 * rng.uniform(),
                        .slo_ms = 40 + 100 * rng.uniform(),
                        .accuracy = 0.6 + 0.1 * rng.uniform()};
    for (int second = 0; second < 30; ++second) {
      service.rates.push_back(service.rate * (0.5 + rng.uniform()));
    }
    made.services.push_back(service);
  }
  made.fleet = {.gpus = 1 + static_cast<int>(rng.below(24)),
                .memory_gib = 80,
                .mig = mig,
                .idle_w = 60,
                .grams_per_kwh = 300};
  made.seed = seed;
  return made;
}

/// Requests that arrive evenly at nine tenths of the rates. Distributed one by one, they do not
/// arrive evenly at each instance.
std::vector<TaskArrival> evenly(const PlanningCase& asked) {
  std::vector<TaskArrival> made;
  for (std::size_t service = 0; service < asked.services.size(); ++service) {
    const double apart_ms = 1000 / (0.9 * asked.services[service].rate);
    for (int each = 0; each < 2000; ++each) made.push_back({apart_ms * each, service});
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const TaskArrival& a, const TaskArrival& b) { return a.at_ms < b.at_ms; });
  return made;
}

TEST(Planners, MakeOnlyPlansThatFitAndThatDoWhatIsAsked) {
  for (const auto& planner : registry().planners.entries()) {
    int made = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(planner.name + " " + std::to_string(seed));
      const PlanningCase asked = drawn(seed, planner.make.mig);
      const auto plan = planner.make.plan(asked);
      if (!plan) {
        EXPECT_EQ(plan.error().code, Code::unavailable) << to_string(plan.error());
        ++refused;
        continue;
      }
      ++made;
      const auto fits = check(asked, *plan);
      ASSERT_TRUE(fits) << to_string(fits.error());
      EXPECT_TRUE(judge(asked, *plan).meets(asked));
      const auto again = planner.make.plan(asked);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->instances.size(), plan->instances.size());
      const DeploymentRun run = play_deployment(asked, *plan, evenly(asked));
      EXPECT_GE(run.worst(), 0.99);
      EXPECT_EQ(run.services.front().requests, 2000U);
    }
    EXPECT_GT(made, 5) << planner.name;
    EXPECT_GT(refused, 0) << planner.name;
  }
}

TEST(Mig, IsCutInFourteenWaysWithoutWideAndMediaProfiles) {
  EXPECT_EQ(mig_splits().size(), 14U);
  const auto has = [](const std::vector<int>& split) {
    return std::find(mig_splits().begin(), mig_splits().end(), split) != mig_splits().end();
  };
  EXPECT_TRUE(has({7}));
  EXPECT_TRUE(has({4, 3}));
  EXPECT_TRUE(has({3, 3}));
  EXPECT_TRUE(has({2, 2, 2, 1}));
  EXPECT_TRUE(has({1, 1, 1, 1, 1, 1, 1}));
  EXPECT_FALSE(has({4, 2}));  // one more slice would fit next to it
}

TEST(Vote, IsRightWhereTheMajorityIs) {
  EXPECT_NEAR(vote_accuracy({0.7}), 0.7, 1e-12);
  EXPECT_NEAR(vote_accuracy({0.7, 0.7, 0.7}), 3 * 0.49 * 0.3 + 0.343, 1e-12);
  // Two that differ are right as often as wrong: no better than one.
  EXPECT_NEAR(vote_accuracy({0.7, 0.7}), 0.49 + 0.42 / 2, 1e-12);
}

TEST(DeploymentRuns, PlayTurnsRoundAndPassOverWhatHasNothing) {
  const PlanningCase asked{
      .variants = {{.name = "a", .task = "see", .fixed_ms = 10, .most_batch = 4},
                   {.name = "b", .task = "hear", .fixed_ms = 20, .most_batch = 4}},
      .services = {{.task = "see", .rate = 1, .slo_ms = 30},
                   {.task = "hear", .rate = 1, .slo_ms = 60}},
      .fleet = {.gpus = 1, .beside = 2}};
  const Instance see{.service = 0, .variant = 0, .batch = 2, .part = 0, .duty_ms = 40};
  Instance hear = see;
  hear.service = hear.variant = 1;
  const Deployment turns{.instances = {see, hear}};
  EXPECT_TRUE(check(asked, turns)) << "they have one share together";
  EXPECT_EQ(slower_beside(asked, turns, see), 1);
  EXPECT_DOUBLE_EQ(instance_rate(asked, turns, see), 50);
  // Two of the first to 10 ms, one of the second to 30, the third of the first to 40: too late.
  const auto run = play_deployment(asked, turns, {{0, 0}, {0, 0}, {0, 0}, {0, 1}});
  EXPECT_EQ(run.services[0].in_time, 2U);
  EXPECT_EQ(run.services[1].in_time, 1U);
  // Alone the third is served at 20 ms.
  EXPECT_EQ(play_deployment(asked, turns, {{0, 0}, {0, 0}, {0, 0}}).worst(), 1);
  Instance beside = hear;
  beside.part = 1;
  beside.share = 0.5;
  EXPECT_FALSE(check(asked, {.instances = {see, beside}})) << "a share of 1 and one of 0.5";
  EXPECT_EQ(slower_beside(asked, {.instances = {see, beside}}, see), 2);
}

/// Batches of up to 8 take 10 ms and 1 ms a request. At 50 a second each request runs alone, for
/// 11 of 20 ms. At 200 a second two or three run together and the GPU is never idle: full batches
/// would keep it busy for 45 % of the time only.
TEST(Power, IsThatOfTheBatchesThatForm) {
  PlanningCase asked{.variants = {{.name = "a",
                                   .task = "see",
                                   .fixed_ms = 10,
                                   .item_ms = 1,
                                   .most_batch = 8,
                                   .busy_w = 100}},
                     .services = {{.task = "see", .rate = 50, .slo_ms = 100}},
                     .fleet = {.gpus = 1}};
  const Deployment whole{.instances = {{.batch = 8}}};
  const auto watts_of_replay = [&] {
    std::vector<TaskArrival> arrivals;
    for (int each = 0; each < 2000; ++each) {
      arrivals.push_back({1000 / asked.services[0].rate * each, 0});
    }
    return play_deployment(asked, whole, arrivals).busy_w();
  };
  EXPECT_DOUBLE_EQ(formed_batch(asked.variants[0], 1, 50, 8), 1);
  EXPECT_NEAR(judge(asked, whole).watts, 55, 1e-9);
  EXPECT_NEAR(watts_of_replay(), 55, 0.1);
  asked.services[0].rate = 200;
  EXPECT_DOUBLE_EQ(formed_batch(asked.variants[0], 1, 200, 8), 2.5);
  EXPECT_NEAR(judge(asked, whole).watts, 100, 1e-9);
  EXPECT_NEAR(watts_of_replay(), 100, 0.5);
  EXPECT_DOUBLE_EQ(formed_batch(asked.variants[0], 1, 2000, 8), 8);
}

TEST(NexusPlan, LetsWhatFillsNoGpuTakeTurns) {
  PlanningCase asked{
      .variants = {{.name = "a", .task = "see", .fixed_ms = 10, .item_ms = 1, .most_batch = 64},
                   {.name = "b", .task = "hear", .fixed_ms = 10, .item_ms = 1, .most_batch = 64}},
      .services = {{.task = "see", .rate = 100, .slo_ms = 100},
                   {.task = "hear", .rate = 100, .slo_ms = 100}},
      .fleet = {.gpus = 4}};
  // Nine in 81 ms take 19 ms, which leaves none for a request that has just missed its turn. Both
  // fit in that cycle.
  const auto plan = planned("nexus", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->instances.size(), 2U);
  EXPECT_EQ(plan->instances[1].gpu, 0);
  EXPECT_EQ(plan->instances[0].batch, 9);
  EXPECT_DOUBLE_EQ(plan->instances[0].duty_ms, 81);
  // Batches of 40 in 50 ms fill a GPU with 800 a second; of 1,700 a second 100 remain.
  asked.services[0].rate = 1700;
  const auto more = planned("nexus", asked);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->instances.size(), 4U);
  EXPECT_EQ(judge(asked, *more).gpus, 3);
}

TEST(IgniterPlan, TakesTheGpuOnWhichSharesGrowLeast) {
  // A request takes 10 ms on a whole GPU and has half of 40 ms: a share of a half. Next to others
  // it needs more, by as much as they slow it.
  const Variant one{.name = "a", .task = "see", .item_ms = 10, .most_batch = 8};
  PlanningCase asked{.variants = {one, one},
                     .services = {{.task = "see", .rate = 20, .slo_ms = 40},
                                  {.task = "hear", .rate = 20, .slo_ms = 40}},
                     .fleet = {.gpus = 4, .beside = 1}};
  asked.variants[1].task = "hear";
  auto plan = planned("igniter", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(judge(asked, *plan).gpus, 1);
  EXPECT_NEAR(plan->instances[0].share, 0.5, 1e-9);
  asked.fleet.beside = 1.2;
  plan = planned("igniter", asked);
  ASSERT_TRUE(plan);
  EXPECT_EQ(judge(asked, *plan).gpus, 2) << "0.6 and 0.6 are more than a GPU";
}

constexpr double kWholeGpu = 1;

Variant variant(const char* name, double accuracy, double item_ms) {
  return {.name = name,
          .task = "see",
          .accuracy = accuracy,
          .item_ms = item_ms,
          .knee = kWholeGpu,
          .most_batch = 8,
          .memory_gib = 1,
          .load_s = 1,
          .busy_w = 200};
}

TEST(Infaas, UpgradesWhereManyCopiesTakeLongerToLoad) {
  PlanningCase asked{.variants = {variant("small", 0.9, 10), variant("large", 0.9, 1)},
                     .services = {{.task = "see", .rate = 80, .slo_ms = 500}},
                     .fleet = {.gpus = 4, .beside = 1}};
  asked.variants[0].load_s = 0.5;
  asked.variants[1].load_s = 0.9;
  // One copy of the small one answers 100 a second, and loads soonest.
  EXPECT_EQ(planned("infaas", asked)->instances.front().variant, 0U);
  // Three copies take 1.5 s to load, one of the large one 0.9 s: 1.5 > 1.5 * 0.9 is true.
  asked.services[0].rate = 280;
  const auto plan = planned("infaas", asked);
  ASSERT_EQ(plan->instances.size(), 1U);
  EXPECT_EQ(plan->instances.front().variant, 1U);
}

TEST(Cocktail, TakesAsManyAsVoteRightOftenEnough) {
  PlanningCase asked{.variants = {variant("a", 0.7, 1), variant("b", 0.7, 2), variant("c", 0.7, 3),
                                  variant("d", 0.7, 400)},
                     .services = {{.task = "see", .rate = 10, .slo_ms = 100, .accuracy = 0.78}},
                     .fleet = {.gpus = 8, .beside = 1}};
  const auto plan = planned("cocktail", asked);  // three of 0.7 are right in 0.784
  ASSERT_EQ(plan->instances.size(), 3U);
  EXPECT_TRUE(plan->votes[0]);
  asked.services[0].accuracy = 0.7;
  EXPECT_EQ(planned("cocktail", asked)->instances.size(), 1U);
  asked.services[0].accuracy = 0.79;  // the fourth is too slow
  EXPECT_EQ(planned("cocktail", asked).error().code, Code::unavailable);
}

/// Three variants of which each is right in 0.7 share a GPU, three tenths each. Their vote is right
/// in 3 * 0.7^2 * 0.3 + 0.7^3 = 0.784, more than any of them.
TEST(Cocktail, VotesOnOneGpuThatItsMembersShare) {
  PlanningCase asked{.variants = {variant("a", 0.7, 1), variant("b", 0.7, 2), variant("c", 0.7, 3)},
                     .services = {{.task = "see", .rate = 10, .slo_ms = 100, .accuracy = 0.78}},
                     .fleet = {.gpus = 1, .beside = 1}};
  for (Variant& each : asked.variants) each.knee = 0.3;
  const auto plan = planned("cocktail", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->instances.size(), 3U);
  for (const Instance& each : plan->instances) EXPECT_NEAR(each.share, 0.3, 1e-12);
  EXPECT_EQ(judge(asked, *plan).gpus, 1);
  EXPECT_NEAR(judge(asked, *plan).served[0].accuracy, 0.784, 1e-12);
}

// A batch of 1 takes 41 ms, so 20,000 requests/s need 820 copies; a batch of 8 takes 48 ms, so 120.
TEST(Inferline, StartsWithLargerBatchesAtHighRates) {
  PlanningCase asked{.variants = {{.name = "a",
                                   .task = "see",
                                   .accuracy = 0.9,
                                   .fixed_ms = 40,
                                   .item_ms = 1,
                                   .most_batch = 8,
                                   .memory_gib = 1}},
                     .services = {{.task = "see", .rate = 20'000, .slo_ms = 300, .accuracy = 0.5}},
                     .fleet = {.gpus = 1000, .beside = 1}};
  const auto plan = planned("inferline", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->instances.front().batch, 8);
  EXPECT_GE(plan->instances.size(), 120U);
  EXPECT_LE(plan->instances.size(), 240U);
  // 1200 copies with batches of 8.
  asked.services[0].rate = 200'000;
  const auto refused = planned("inferline", asked);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "up to 1000 copies of a do not answer 200000 requests/s of see with p99 within 300 ms");
}

TEST(MigServing, CutsAGpuInSevenForAServiceThatFillsOneSlice) {
  PlanningCase asked{.variants = {variant("small", 0.9, 1)},
                     .services = {{.task = "see", .slo_ms = 100}},
                     .fleet = {.gpus = 2, .mig = true}};
  asked.variants[0].knee = 1.0 / 7;
  // A slice answers 1,000 a second, more of them no more.
  asked.services[0].rate = 6500;
  const auto plan = planned("mig_serving", asked);
  ASSERT_EQ(plan->instances.size(), 7U);
  EXPECT_EQ(judge(asked, *plan).gpus, 1);
  asked.services[0].rate = 14'001;
  EXPECT_EQ(planned("mig_serving", asked).error().code, Code::unavailable);
}

TEST(MigServing, TakesOneGpuWhereOneSuffices) {
  PlanningCase asked{.variants = {variant("small", 0.9, 1)},
                     .services = {{.task = "see", .rate = 428, .slo_ms = 100},
                                  {.task = "see", .rate = 571, .slo_ms = 100}},
                     .fleet = {.gpus = 4, .mig = true}};
  // A slice answers 142.9 a second: three slices and four. The first has nothing better than four
  // for itself, and then the second lacks a slice.
  const auto plan = planned("mig_serving", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(judge(asked, *plan).gpus, 1);
  EXPECT_TRUE(judge(asked, *plan).meets(asked));
  EXPECT_TRUE(check(asked, *plan));
}

TEST(Replay, CorrectsAPlanThatMissesItsObjective) {
  const PlanningCase asked{.variants = {variant("one", 0.9, 1)},
                           .services = {{.task = "see", .rate = 300, .slo_ms = 40}},
                           .fleet = {.gpus = 4, .beside = 1}};
  const auto arrivals = poisson_arrivals(asked.services, 60, 1);
  for (const char* name : {"gslice", "kube_knots", "igniter", "nexus", "gpulet"}) {
    const PlannerChoice& planner = registry().planners.find(name)->make;
    const auto published = plan_and_replay(planner, asked, arrivals);
    ASSERT_TRUE(published) << name << to_string(published.error());
    EXPECT_EQ(published->rates, 1);
    const auto corrected = plan_in_time(planner, asked, arrivals, 0.99);
    ASSERT_TRUE(corrected) << name << to_string(corrected.error());
    EXPECT_GE(corrected->run.worst(), 0.99) << name;
    EXPECT_EQ(corrected->rates > 1, published->run.worst() < 0.99) << name;
    EXPECT_GE(play_deployment(asked, corrected->plan, arrivals).worst(), 0.99) << name;
  }
  PlanningCase small = asked;
  small.fleet.gpus = 1;
  small.services[0].rate = 950;
  const auto never = plan_in_time(registry().planners.find("gslice")->make, small,
                                  poisson_arrivals(small.services, 60, 1), 0.99);
  ASSERT_FALSE(never);
  EXPECT_NE(never.error().message.find("the best "), std::string::npos) << never.error().message;
}

TEST(MigServing, TakesNoFewerGpusThanItsBoundAndFewOnesMore) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    PlanningCase asked = drawn(seed, true);
    asked.fleet.gpus = 1000;
    const auto plan = planned("mig_serving", asked);
    if (!plan) continue;
    double bound = 0;  // slices, each as good as the best
    for (const TaskService& service : asked.services) {
      double best = 0;
      for (const Variant& each : asked.variants) {
        if (each.task != service.task || each.accuracy < service.accuracy) continue;
        for (int slices = 1; slices <= 7; ++slices) {
          const double share = slices / 7.0;
          const int batch = batch_in_time(each, share, service.slo_ms);
          if (each.memory_gib > mig_memory(slices) * 80 || batch == 0) continue;
          best = std::max(best, throughput(each, share, batch) / slices);
        }
      }
      bound += service.rate / best;
    }
    const int gpus = judge(asked, *plan).gpus;
    EXPECT_GE(gpus, std::ceil(bound / 7 - 1e-9));
    EXPECT_LE(gpus, std::ceil(2 * bound / 7) + 1);
  }
}

TEST(Gslice, SettlesWhereLatencyAndThroughputAreATenthAboveWhatIsAsked) {
  PlanningCase asked{.variants = {variant("one", 0.9, 1)},
                     .services = {{.task = "see", .rate = 300, .slo_ms = 40}},
                     .fleet = {.gpus = 1, .beside = 1}};
  const auto plan = planned("gslice", asked);
  ASSERT_EQ(plan->instances.size(), 1U);
  const Instance& it = plan->instances.front();
  // A whole GPU answers 1,000 a second whatever the batch, so 0.3 of it 300.
  EXPECT_GE(it.share, 0.3);
  EXPECT_LE(it.share, 0.34);
}

TEST(Clover, GivesUpAccuracyForCarbonOnlyWherePowerIsDirty) {
  PlanningCase asked{
      .variants = {variant("large", 0.9, 4), variant("small", 0.88, 1)},
      .services = {{.task = "see", .rate = 400, .slo_ms = 300}},
      .fleet = {
          .gpus = 4, .mig = true, .idle_w = 50, .grams_per_kwh = 0, .usual_grams_per_kwh = 300}};
  asked.variants[1].knee = 1.0 / 7;
  const Judged clean = judge(asked, *planned("clover", asked));
  EXPECT_NEAR(clean.served[0].accuracy, 0.9, 1e-12);
  asked.fleet.grams_per_kwh = 600;
  const Judged dirty = judge(asked, *planned("clover", asked));
  EXPECT_LT(dirty.served[0].accuracy, 0.9);
  EXPECT_LT(dirty.watts, 0.7 * clean.watts);
}

/// A request of the small variant takes 1 ms on a slice of seven, which draws 200 / 7 W.
PlanningCase dirty_power(int gpus, double rate) {
  PlanningCase made{.variants = {variant("large", 0.9, 4), variant("small", 0.88, 1)},
                    .services = {{.task = "see", .rate = rate, .slo_ms = 300}},
                    .fleet = {.gpus = gpus,
                              .mig = true,
                              .idle_w = 50,
                              .grams_per_kwh = 600,
                              .usual_grams_per_kwh = 300}};
  made.variants[1].knee = 1.0 / 7;
  return made;
}

/// 200 requests a second of the large variant keep a GPU busy for 80 % of the time: 50 + 160 W. The
/// small one on a slice needs 50 + 0.2 * 200 / 7 W, for 2.2 % of the accuracy.
TEST(Clover, CutsASingleGpuForLessCarbon) {
  const PlanningCase asked = dirty_power(1, 200);
  const auto plan = planned("clover", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_NEAR(judge(asked, *plan).watts, 50 + 0.2 * 200 / 7, 1e-6);
  for (const Instance& each : plan->instances) {
    EXPECT_EQ(each.variant, 1U);
    EXPECT_EQ(each.gpu, 0);
  }
}

/// Two services, each of which needs a slice of a GPU, share the idle power of one.
TEST(Clover, PutsTheSlicesOfSeveralServicesOnOneGpu) {
  PlanningCase asked = dirty_power(2, 200);
  asked.services.push_back(asked.services.front());
  const auto plan = planned("clover", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const Judged judged = judge(asked, *plan);
  EXPECT_EQ(judged.gpus, 1);
  EXPECT_NEAR(judged.watts, 50 + 2 * 0.2 * 200 / 7, 1e-6);
  const auto fits = check(asked, *plan);
  EXPECT_TRUE(fits) << to_string(fits.error());
}

/// A service that requires the accuracy of the large variant keeps it. It computes for 0.8 of the
/// time on a whole GPU (160 W), and so fits six slices of seven, 4 and 2. The other service saves
/// carbon on the last slice.
TEST(Clover, SavesCarbonForEachServiceAsFarAsItsAccuracyAllows) {
  PlanningCase asked = dirty_power(2, 200);
  asked.services[0].accuracy = 0.9;
  asked.services.push_back({.task = "see", .rate = 200, .slo_ms = 300, .accuracy = 0.8});
  const auto plan = planned("clover", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const Judged judged = judge(asked, *plan);
  EXPECT_NEAR(judged.served[0].accuracy, 0.9, 1e-12);
  EXPECT_NEAR(judged.served[1].accuracy, 0.88, 1e-12);
  EXPECT_EQ(judged.gpus, 1);
  EXPECT_NEAR(judged.watts, 50 + 160 + 0.2 * 200 / 7, 1e-6);
}

TEST(Cascade, AsksTheBetterModelOnlyWhereTheFasterIsNotSure) {
  const std::vector<Variant> variants{variant("small", 0, 1), variant("large", 0, 10)};
  // The small one is wrong in the two of ten of which it is least sure, the large one in none.
  std::vector<std::vector<TriedAnswer>> answers(2);
  for (int item = 0; item < 10; ++item) {
    answers[0].push_back({item >= 2, 0.1 * item});
    answers[1].push_back({true, 1});
  }
  const Cascade exact = cheapest_cascade(variants, answers, 0);
  EXPECT_EQ(exact.first, 0U);
  EXPECT_EQ(exact.second, 1U);
  EXPECT_NEAR(exact.threshold, 0.2, 1e-12);
  EXPECT_NEAR(exact.mean_ms, 1 + 0.2 * 10, 1e-12);
  EXPECT_NEAR(exact.accuracy, 1, 1e-12);
  const Cascade tolerant = cheapest_cascade(variants, answers, 0.1);  // one wrong answer will do
  EXPECT_NEAR(tolerant.mean_ms, 1 + 0.1 * 10, 1e-12);
  EXPECT_EQ(cheapest_cascade(variants, answers, 0.2).second, std::nullopt);
}

TEST(Overlap, FillsTheHeadroomOfTheMostUrgentQueryWithOthersOperators) {
  // 4 operators of 2 ms with 2 ms to spare; ten of 1 ms without haste; four of 1 ms in between.
  const std::vector<OverlapQuery> queries{{100, std::vector<double>(10, 1.0)},
                                          {10, std::vector<double>(4, 2.0)},
                                          {20, std::vector<double>(4, 1.0)}};
  int calls = 0;
  const OverlapTime together = [&](const std::vector<std::size_t>& operators) {
    ++calls;
    // The longest query, and a quarter of those that run next to it.
    std::vector<double> each;
    for (std::size_t query = 0; query < queries.size(); ++query) {
      each.push_back(static_cast<double>(operators[query]) * queries[query].left_ms[0]);
    }
    const double longest = *std::max_element(each.begin(), each.end());
    return longest + (std::accumulate(each.begin(), each.end(), 0.0) - longest) / 4;
  };
  // 8 ms of the head, a quarter of 4 more of the third; then a quarter of 4 of the first.
  EXPECT_EQ(overlapped_group(queries, together), (std::vector<std::size_t>{4, 4, 4}));
  EXPECT_LE(calls, 8);
  EXPECT_EQ(overlapped_group(queries, together, 2), (std::vector<std::size_t>{0, 4, 4}));
  EXPECT_EQ(overlapped_group({{5, {6.0}}}, [](const auto&) { return 6.0; }),
            (std::vector<std::size_t>{0}));
}

TEST(Exp3, ComesToTheModelThatIsLeastWrong) {
  Exp3 bandit(3);
  bandit.learn(0, 0.5);  // by hand: exp(-0.1 * 0.5 / (1 / 3)) = exp(-0.15)
  const double weight = std::exp(-0.15);
  EXPECT_NEAR(bandit.chances()[0], 0.9 * weight / (weight + 2) + 0.1 / 3, 1e-12);
  Rng rng(1);
  const std::array wrong{0.5, 0.2, 0.4};
  std::array<int, 3> chosen{};
  for (int request = 0; request < 5000; ++request) {
    const std::size_t model = bandit.choose(rng);
    ++chosen[model];
    bandit.learn(model, rng.uniform() < wrong[model] ? 1 : 0);
  }
  EXPECT_GT(chosen[1], 3500);
}

TEST(Exp4, LetsMembersCountByHowOftenTheyWereRight) {
  Exp4 vote(3, std::log(2));
  EXPECT_EQ(vote.combine(std::array{1, 2, 2}).label, 2);
  EXPECT_NEAR(vote.combine(std::array{1, 2, 2}).confidence, 2.0 / 3, 1e-12);
  for (int time = 0; time < 3; ++time) vote.learn(std::array{1, 2, 2}, 1);
  // Weights 1, 1/8 and 1/8.
  EXPECT_EQ(vote.combine(std::array{1, 2, 2}).label, 1);
  EXPECT_NEAR(vote.combine(std::array{1, 2, 2}).confidence, 0.8, 1e-12);
  EXPECT_NEAR(vote.combine(std::array{Exp4::kLate, 2, 2}).confidence, 0.2, 1e-12);
  EXPECT_EQ(vote.combine(std::array{Exp4::kLate, Exp4::kLate, Exp4::kLate}).label, Exp4::kLate);
}

}  // namespace
}  // namespace almanac::deployment
