// SPDX-License-Identifier: Apache-2.0

/// \file
/// Planners that look at the loads of services second by second, or give each service GPUs of its
/// own: cases by hand.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deployment/deployment.h"
#include "deployment/registry.h"

namespace almanac::deployment {
namespace {

Result<Deployment> plan_for(const std::string& name, const PlanningCase& asked) {
  return registry().planners.find(name)->make.plan(asked);
}

/// A batch of b takes b times `item_ms` on a whole GPU.
Variant steady(const char* name, double item_ms) {
  return {.name = name,
          .task = "see",
          .accuracy = 0.9,
          .item_ms = item_ms,
          .most_batch = 8,
          .memory_gib = 1};
}

TEST(KubeKnots, PutsTogetherWhatDoesNotRiseTogether) {
  PlanningCase asked{.variants = {steady("one", 1)},
                     .services = {{.task = "see", .rate = 400, .slo_ms = 100},
                                  {.task = "see", .rate = 400, .slo_ms = 100}},
                     .fleet = {.gpus = 2, .beside = 1}};
  // Loads without memory, which no forecast knows.
  const std::vector<double> one{1, 8, 2, 9, 1, 7, 3, 8, 2, 9}, other{9, 2, 8, 1, 9, 3, 7, 2, 8, 1};
  const auto rates = [](std::vector<double> made) {
    for (double& each : made) each *= 44;
    return made;
  };
  asked.services[0].rates = rates(one);
  asked.services[1].rates = rates(other);
  EXPECT_EQ(judge(asked, *plan_for("kube_knots", asked)).gpus, 1);
  asked.services[1].rates = rates(one);
  EXPECT_EQ(judge(asked, *plan_for("kube_knots", asked)).gpus, 2);
}

/// Both loads are 800 in three of 15 seconds and 100 in the others: they rise together, with an
/// autocorrelation of 764,400 / 1,176,000 = 0.65 around 240. A service is sized for 400 on two
/// fifths of a GPU, and its peak takes four fifths. After the peak the next second is forecast as
/// 240 - 0.65 * 140 = 149, which takes 0.15; just before its end as 604, which takes 0.6.
TEST(KubeKnots, ForecastsThePeakOfWhatRisesTogether) {
  PlanningCase asked{.variants = {steady("one", 1)},
                     .services = {{.task = "see", .rate = 400, .slo_ms = 100},
                                  {.task = "see", .rate = 400, .slo_ms = 100}},
                     .fleet = {.gpus = 2, .beside = 1}};
  std::vector<double> falling(15, 100), rising(15, 100);
  std::fill_n(falling.begin(), 3, 800);
  std::fill_n(rising.rbegin(), 3, 800);
  for (TaskService& each : asked.services) each.rates = falling;
  const auto after = plan_for("kube_knots", asked);
  EXPECT_NEAR(after->instances[0].share, 0.4, 1e-12);
  EXPECT_EQ(judge(asked, *after).gpus, 1);
  for (TaskService& each : asked.services) each.rates = rising;
  EXPECT_EQ(judge(asked, *plan_for("kube_knots", asked)).gpus, 2);
}

TEST(Nanily, GivesEachServiceAsManyMachinesAsItsRateNeeds) {
  // 10 + 5 b ms. Of 100 ms, half are left after a wait: a batch of 8, which takes 50 ms. A machine
  // answers 160 a second; 500 need four, and the other service one of its own.
  Variant it = steady("a", 5);
  it.fixed_ms = 10;
  it.knee = 1;
  it.most_batch = 32;
  const PlanningCase asked{.variants = {it},
                           .services = {{.task = "see", .rate = 500, .slo_ms = 100},
                                        {.task = "see", .rate = 10, .slo_ms = 100}},
                           .fleet = {.gpus = 5}};
  const auto plan = plan_for("nanily", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->instances.size(), 5U);
  EXPECT_EQ(judge(asked, *plan).gpus, 5);
  for (const Instance& each : plan->instances) EXPECT_EQ(each.batch, 8);
  EXPECT_EQ(std::count_if(plan->instances.begin(), plan->instances.end(),
                          [](const Instance& each) { return each.service == 0; }),
            4);
}

}  // namespace
}  // namespace almanac::deployment
