// SPDX-License-Identifier: Apache-2.0

/// \file
/// How a deployment becomes another one, and what planners make of rates that change.
#include "deployment/replan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "deployment/registry.h"
#include "deployment/transition.h"

namespace almanac::deployment {
namespace {

/// Answers 100 requests a second on a whole GPU, and is loaded in 5 s.
Variant variant(const char* name, const char* task) {
  return {.name = name,
          .task = task,
          .accuracy = 0.9,
          .item_ms = 10,
          .most_batch = 8,
          .memory_gib = 1,
          .load_s = 5};
}

PlanningCase two_services(int gpus) {
  return {.variants = {variant("a", "see"), variant("b", "hear"), variant("c", "see")},
          .services = {{.task = "see", .rate = 100, .slo_ms = 200},
                       {.task = "hear", .rate = 100, .slo_ms = 200}},
          .fleet = {.gpus = gpus, .beside = 1}};
}

/// `per_s` requests a second from one time to another, evenly.
void add(std::vector<TaskArrival>& arrivals, double from_s, double to_s, double per_s,
         std::size_t service = 0) {
  for (double at_ms = 1000 * from_s; at_ms < 1000 * to_s - 1e-6; at_ms += 1000 / per_s) {
    arrivals.push_back({at_ms, service});
  }
}

TEST(Phases, DealWaitingRequestsAgainWhenAnInstanceIsAdded) {
  const PlanningCase asked = two_services(2);
  const Deployment one{.instances = {{.batch = 1}}};
  Deployment two = one;
  two.instances.push_back({.gpu = 1, .batch = 1});
  // 40 requests at once take 400 ms on one GPU: 20 are in time.
  const std::vector<TaskArrival> arrivals(40, {0, 0});
  EXPECT_EQ(play_phases(asked, {{0, one}}, arrivals).services[0].in_time, 20U);
  // A second GPU from 100 ms on takes every other of the 30 that wait: both answer 10 more by 200.
  EXPECT_EQ(play_phases(asked, {{0, one}, {100, two, {0, 100}}}, arrivals).services[0].in_time,
            30U);
  // It has loaded only at 150 ms: at 100 ms all wait for the first, which answers 10 by 200.
  EXPECT_EQ(play_phases(asked, {{0, one}, {100, two, {0, 150}}}, arrivals).services[0].in_time,
            20U);
  // Without any that has loaded, requests wait for the first to be ready: 5 of them by 200 ms.
  EXPECT_EQ(play_phases(asked, {{0, one, {150}}}, arrivals).services[0].in_time, 5U);
}

// Two equal copies on a GPU take 20 ms a request each. They are free at 20 and 25, just before the
// requests at 21 and 26, which would be late if they waited.
TEST(Phases, APhaseEqualToTheOneBeforeBlocksNoCopy) {
  PlanningCase asked = two_services(1);
  asked.services[0].slo_ms = 20;
  const Deployment both{.instances = {{.share = 0.5, .batch = 1}, {.share = 0.5, .batch = 1}}};
  const std::vector<TaskArrival> arrivals{{0, 0}, {5, 0}, {21, 0}, {26, 0}};
  EXPECT_EQ(play_phases(asked, {{0, both}}, arrivals).services[0].in_time, 4U);
  EXPECT_EQ(play_phases(asked, {{0, both}, {10, both}}, arrivals).services[0].in_time, 4U);
}

// Variants a and c vote on 8 requests at once, 10 ms each. At 40 ms four wait at either variant.
TEST(Phases, DealARequestOnceWhenItsVotesEnd) {
  const PlanningCase asked = two_services(2);
  const Deployment voting{
      .instances = {{.gpu = 0, .variant = 0, .batch = 1}, {.gpu = 1, .variant = 2, .batch = 1}},
      .votes = {true, false}};
  PlanningCase tight = asked;
  tight.services[0].slo_ms = 80;
  const std::vector<TaskArrival> arrivals(8, {0, 0});
  EXPECT_EQ(play_phases(tight, {{0, voting}}, arrivals).services[0].in_time, 8U);
  // One copy answers the four waiting requests by 80 ms, if each is assigned once.
  const Deployment alone{.instances = {{.gpu = 0, .variant = 0, .batch = 1}}};
  EXPECT_EQ(play_phases(tight, {{0, voting}, {40, alone}}, arrivals).services[0].in_time, 8U);
  // The remaining variant votes on the four that it has not voted on, also by 80 ms.
  Deployment one_voter = alone;
  one_voter.votes = {true, false};
  EXPECT_EQ(play_phases(tight, {{0, voting}, {40, one_voter}}, arrivals).services[0].in_time, 8U);
}

TEST(Transition, LoadsNothingThatRunsAlready) {
  const PlanningCase asked = two_services(4);
  const Instance see{.gpu = 0, .share = 0.5, .service = 0, .variant = 0};
  const Instance hear{.gpu = 1, .share = 0.5, .service = 1, .variant = 1};
  Instance other{.gpu = 1, .share = 0.5, .service = 0, .variant = 2};
  // The plan calls GPU 0 what runs on GPU 1, and adds an instance to what runs on GPU 0.
  Instance plan_hear = hear, plan_see = see;
  plan_hear.gpu = 0;
  plan_hear.batch = 4;
  plan_see.gpu = 1;
  const Transition made = transition(asked, {.running = {.instances = {see, hear}}},
                                     {.instances = {plan_hear, plan_see, other}}, 1000);
  EXPECT_EQ(made.loads(), 1);
  EXPECT_FALSE(made.interrupts);
  ASSERT_EQ(made.phases.size(), 2U);
  EXPECT_EQ(made.phases[1].from_ms, 6000) << "batches change when all have loaded";
  const Phase& after = made.phases.front();
  ASSERT_EQ(after.running.instances.size(), 3U);
  for (std::size_t each = 0; each < 3; ++each) {
    const Instance& it = after.running.instances[each];
    EXPECT_EQ(it.gpu, it.variant == 1 ? 1 : 0);
    EXPECT_EQ(after.ready_ms[each], it.variant == 2 ? 6000 : 0) << "loaded in 5 s";
    EXPECT_EQ(it.batch, 1);
    EXPECT_EQ(made.phases[1].running.instances[each].batch, it.variant == 1 ? 4 : 1);
  }
}

TEST(Transition, CreatesBeforeItDeletes) {
  // Two whole GPUs of variant a become two of c, which is as fast.
  const Deployment old{.instances = {{.gpu = 0}, {.gpu = 1}}};
  const Deployment plan{.instances = {{.gpu = 0, .variant = 2}, {.gpu = 1, .variant = 2}}};
  const Transition spare = transition(two_services(3), {.running = old}, plan, 0);
  // c is loaded on GPU 2 by 5 s and takes the place of GPU 0, where c is loaded by 10 s.
  ASSERT_EQ(spare.phases.size(), 3U);
  EXPECT_EQ(spare.phases[0].running.instances.size(), 3U);
  EXPECT_EQ(spare.phases[1].from_ms, 5000);
  EXPECT_EQ(spare.phases[2].from_ms, 10'000);
  EXPECT_EQ(spare.phases[2].running.instances.size(), 2U);
  EXPECT_EQ(spare.loads(), 2);
  EXPECT_FALSE(spare.interrupts);
  // Without a free GPU there is no other way than to delete one first.
  const Transition full = transition(two_services(2), {.running = old}, plan, 0);
  EXPECT_TRUE(full.interrupts);
  // A service that shrinks makes room for another: one GPU of a is enough for both deployments.
  const Deployment other{
      .instances = {{.gpu = 0, .variant = 0}, {.gpu = 1, .service = 1, .variant = 1}}};
  const Transition shrinks = transition(two_services(2), {.running = old}, other, 0);
  EXPECT_FALSE(shrinks.interrupts);
  EXPECT_EQ(shrinks.loads(), 1);
}

TEST(Transition, LeavesEachServiceWhatBothDeploymentsGiveIt) {
  int made = 0, interrupted = 0;
  for (const char* const name : {"gslice", "infaas", "nexus", "gpulet", "igniter", "mig_serving"}) {
    const PlannerChoice& planner = registry().planners.find(name)->make;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(name + std::to_string(seed));
      Rng rng(seed);
      PlanningCase asked = two_services(3 + static_cast<int>(rng.below(8)));
      asked.fleet.mig = planner.mig;
      for (Variant& each : asked.variants) each.fixed_ms = 5 * rng.uniform();
      for (TaskService& each : asked.services) each.rate = 20 + 300 * rng.uniform();
      const auto old = planner.plan(asked);
      PlanningCase later = asked;
      for (TaskService& each : later.services) each.rate = 20 + 300 * rng.uniform();
      const auto plan = planner.plan(later);
      if (!old || !plan) continue;
      const Transition change = transition(asked, {.running = *old}, *plan, 1000);
      ++made;
      interrupted += change.interrupts;
      const Deployment& last = change.phases.back().running;
      EXPECT_TRUE(check(asked, last));
      ASSERT_EQ(last.instances.size(), plan->instances.size());
      const auto rates = [&](const Deployment& deployment, std::size_t service, auto&& counts) {
        double sum = 0;
        for (std::size_t each = 0; each < deployment.instances.size(); ++each) {
          const Instance& it = deployment.instances[each];
          if (it.service == service && counts(each)) sum += instance_rate(asked, deployment, it);
        }
        return sum;
      };
      const auto all = [](std::size_t) { return true; };
      for (std::size_t step = 0; step < change.phases.size(); ++step) {
        const Phase& phase = change.phases[step];
        EXPECT_TRUE(check(asked, phase.running)) << "every step fits";
        if (change.interrupts) continue;
        // Neighbors that load slow an instance as those that answer do.
        for (std::size_t service = 0; service < 2; ++service) {
          const double ready = rates(phase.running, service, [&](std::size_t each) {
            return phase.ready_ms[each] <= phase.from_ms;
          });
          const double least = std::min(rates(*old, service, all), rates(*plan, service, all));
          EXPECT_GE(ready, least * (1 - 1e-9)) << step;
        }
      }
    }
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(interrupted, 0);
}

TEST(Forecasts, FollowTheRateAsTheirSystemsDo) {
  std::vector<TaskArrival> arrivals;
  add(arrivals, 0, 60, 10);
  add(arrivals, 60, 120, 20);
  add(arrivals, 120, 180, 30);
  std::vector<double> times;
  for (const TaskArrival& each : arrivals) times.push_back(each.at_ms);
  const PastRequests rising{times, 180'000, 60'000};
  EXPECT_NEAR(last_rate(rising), 30, 1e-9);
  EXPECT_NEAR(highest_of_twenty(rising), 30, 1e-9);
  EXPECT_NEAR(line_of_five(rising), 40, 1e-9) << "the line through 10, 20, 30";
  EXPECT_NEAR(line_with_headroom(rising), 48, 1e-9);
  EXPECT_NEAR(envelope(rising), 30, 1e-9);
  // A minute later nothing has come.
  const PastRequests calm{times, 240'000, 60'000};
  EXPECT_EQ(last_rate(calm), 0);
  EXPECT_NEAR(highest_of_twenty(calm), 30, 1e-9);
  EXPECT_EQ(envelope(calm), 0);
  // Then 100 requests in the last 5 s of a minute: 20 a second, of which the minute shows 1.7.
  std::vector<double> burst = times;
  for (int each = 0; each < 100; ++each) burst.push_back(295'000 + 50 * each);
  EXPECT_NEAR(envelope({burst, 300'000, 60'000}), 20, 1e-9);
  EXPECT_NEAR(last_rate({burst, 300'000, 60'000}), 100.0 / 60, 1e-9);
}

/// 250 requests a second for three minutes, then 50 for three more.
class FallingRate : public testing::Test {
 protected:
  FallingRate() {
    asked_ = two_services(8);
    asked_.services = {{.task = "see", .rate = 250, .slo_ms = 200, .accuracy = 0.9}};
    add(arrivals_, 0, 180, 250);
    add(arrivals_, 180, 360, 50);
  }
  Replanned follow(const std::string& planner) const {
    const auto made =
        plan_over_time(registry().planners.find(planner)->make, asked_, arrivals_, 60);
    EXPECT_TRUE(made) << to_string(made.error());
    return *made;
  }
  PlanningCase asked_;
  std::vector<TaskArrival> arrivals_;
};

TEST_F(FallingRate, InfaasKeepsItsReplicasForTwentyReadings) {
  const Replanned made = follow("infaas");
  EXPECT_NEAR(made.gpu_hours, 3 * 360 / 3600.0, 1e-4);
  EXPECT_EQ(made.loads, 0);
  EXPECT_EQ(made.run.worst(), 1);
}

TEST_F(FallingRate, CocktailFollowsTheLine) {
  // At 240 s the line through 250, 250, 250 and 50 goes down to 50, which one GPU serves.
  const Replanned made = follow("cocktail");
  EXPECT_NEAR(made.gpu_hours, (3 * 240 + 1 * 120) / 3600.0, 1e-4);
  EXPECT_EQ(made.most_gpus, 3);
  EXPECT_EQ(made.loads, 0) << "one of the three stays";
  EXPECT_EQ(made.plans, 5);
  EXPECT_EQ(made.run.worst(), 1);
}

TEST_F(FallingRate, NanilysMachinesFollowTheRate) {
  // Three machines for 250 a second; from 240 s on, when the last step had 50, one.
  const Replanned made = follow("nanily");
  EXPECT_NEAR(made.gpu_hours, (3 * 240 + 1 * 120) / 3600.0, 1e-4);
  EXPECT_EQ(made.most_gpus, 3);
}

TEST_F(FallingRate, MarkRentsForTheRateThatItExpects) {
  // 100 and 200 a second in the first minutes: 300 are expected in the third, times 1.2.
  asked_.services[0].rate = 100;
  arrivals_.clear();
  add(arrivals_, 0, 60, 100);
  add(arrivals_, 60, 120, 200);
  add(arrivals_, 120, 180, 300);
  const Replanned made = follow("mark");
  const auto at_120 = std::find_if(made.phases.begin(), made.phases.end(),
                                   [](const Phase& each) { return each.from_ms >= 120'000; });
  ASSERT_NE(at_120, made.phases.end());
  double rate = 0;
  for (const Instance& each : at_120->running.instances) {
    rate += instance_rate(asked_, at_120->running, each);
  }
  EXPECT_NEAR(rate, 360, 10) << "in tenths of a GPU";
}

TEST_F(FallingRate, InferlineBelievesItsReplay) {
  // Whole GPUs at full use have endless queues: more than 250 of 300 a second is not in time.
  const Replanned made = follow("inferline");
  const Deployment& first = made.phases.front().running;
  const auto random = poisson_arrivals(asked_.services, 60, 7);
  EXPECT_GE(play_deployment(asked_, first, random).worst(), 0.98);
  EXPECT_LT(made.gpu_hours, 4 * 360 / 3600.0) << "it gives back what 50 a second do not need";
  EXPECT_GE(made.run.worst(), 0.99);
}

/// A whole GPU answers 1,000 a second, and GSLICE keeps a slack of up to a tenth: 0.30 to 0.33 of a
/// GPU for 300 a second, 0.10 to 0.11 for 100.
TEST(Gslice, GivesBackTheShareThatALowerRateLeavesIdle) {
  PlanningCase asked = two_services(1);
  asked.variants[0].item_ms = 1;
  asked.services = {{.task = "see", .rate = 300, .slo_ms = 40, .accuracy = 0.9}};
  asked.variants.pop_back();
  std::vector<TaskArrival> arrivals;
  add(arrivals, 0, 120, 300);
  add(arrivals, 120, 300, 100);
  const auto made = plan_over_time(registry().planners.find("gslice")->make, asked, arrivals, 60);
  ASSERT_TRUE(made) << to_string(made.error());
  const double first = made->phases.front().running.instances.front().share;
  const double last = made->phases.back().running.instances.front().share;
  EXPECT_GE(first, 0.3 - 1e-9);
  EXPECT_LE(first, 0.33 + 1e-9);
  EXPECT_GE(last, 0.1 - 1e-9);
  EXPECT_LE(last, 0.11 + 1e-9);
}

/// In the first minute power is clean, and nothing is gained by less accuracy: two GPUs of the
/// large variant, which computes 400 * 4 ms in a second. In the second minute the intensity is
/// twice the mean: the small variant on a slice of one GPU.
TEST(Clover, PlansAgainWhenTheCarbonIntensityChanges) {
  Variant large = variant("large", "see"), small = large;
  large.item_ms = 4;
  small.name = "small";
  small.accuracy = 0.88;
  small.item_ms = 1;
  small.knee = 1.0 / 7;
  large.busy_w = small.busy_w = 200;
  large.load_s = small.load_s = 1;
  const PlanningCase asked{
      .variants = {large, small},
      .services = {{.task = "see", .rate = 400, .slo_ms = 300}},
      .fleet = {.gpus = 4, .mig = true, .idle_w = 50, .carbon = {{0, 0}, {60'000, 600}}}};
  std::vector<TaskArrival> arrivals;
  add(arrivals, 0, 120, 400);
  const auto made = plan_over_time(registry().planners.find("clover")->make, asked, arrivals, 60);
  ASSERT_TRUE(made) << to_string(made.error());
  for (const Instance& each : made->phases.front().running.instances) EXPECT_EQ(each.variant, 0U);
  for (const Instance& each : made->phases.back().running.instances) EXPECT_EQ(each.variant, 1U);
  EXPECT_EQ(made->run.worst(), 1);
  // The small variant is loaded on a third GPU for 1 s, while the large one answers 400 requests.
  EXPECT_NEAR(made->gpu_hours, (2 * 60 + 3 * 1 + 1 * 59) / 3600.0, 1e-3);
  const double joules = 50 * (3 + 59) + 200 * 0.004 * 400 + 200.0 / 7 * 0.001 * 400 * 59;
  EXPECT_NEAR(made->grams, joules / 3.6e6 * 600, 0.01);
}

TEST(Carbon, IsTheMeanOfItsSteps) {
  const GpuFleet fleet{.grams_per_kwh = 7, .carbon = {{0, 100}, {10, 400}, {20, 0}}};
  EXPECT_EQ(grams_at(fleet, 9.9), 100);
  EXPECT_EQ(grams_at(fleet, 10), 400);
  EXPECT_EQ(grams_at(fleet, 1e9), 0);
  EXPECT_DOUBLE_EQ(mean_grams(fleet, 5, 25), (5 * 100 + 10 * 400 + 5 * 0) / 20.0);
  EXPECT_EQ(mean_grams({.grams_per_kwh = 7}, 0, 10), 7);
}

TEST_F(FallingRate, EveryPlannerFollowsAndSaysWhenItCannot) {
  for (const auto& each : registry().planners.entries()) {
    SCOPED_TRACE(each.name);
    asked_.fleet.mig = each.make.mig;
    const Replanned made = follow(each.name);
    EXPECT_EQ(made.run.services[0].requests, arrivals_.size());
    EXPECT_EQ(made.refused, 0);
    EXPECT_EQ(made.plans, 5);
    EXPECT_GT(made.run.worst(), 0.5);
  }
  // Eight times the rate after a minute: there are no such GPUs, and what runs stays.
  asked_.fleet.mig = false;
  arrivals_.clear();
  add(arrivals_, 0, 60, 250);
  add(arrivals_, 60, 180, 2000);
  const Replanned made = follow("infaas");
  EXPECT_EQ(made.refused, 1);
  EXPECT_LT(made.run.worst(), 0.5);
}

}  // namespace
}  // namespace almanac::deployment
