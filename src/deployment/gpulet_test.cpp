// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plans of gpulet's scheduler, by hand.
#include <string>

#include <gtest/gtest.h>

#include "deployment/deployment.h"
#include "deployment/registry.h"

namespace almanac::deployment {
namespace {

Result<Deployment> plan_of(const std::string& name, const PlanningCase& asked) {
  return registry().planners.find(name)->make.plan(asked);
}

/// A rate above 550 is planned a tenth higher: 759 a second. From 40 % of a GPU on, batches of 16
/// take 21 ms and answer 762 a second, and a larger part brings no more. Batches of 16 gather in
/// 16 / 759 s, which with 21 ms is within 50 ms. The other service gets the rest of that GPU.
TEST(GpuletPlan, CutsAGpuAtThePartBeyondWhichMoreBringsLittle) {
  const Variant see{
      .name = "a", .task = "see", .fixed_ms = 5, .item_ms = 1, .knee = 0.4, .most_batch = 16};
  Variant hear = see;
  hear.task = "hear";
  const PlanningCase asked{.variants = {see, hear},
                           .services = {{.task = "see", .rate = 690, .slo_ms = 50},
                                        {.task = "hear", .rate = 690, .slo_ms = 50}},
                           .fleet = {.gpus = 4, .beside = 1}};
  const auto plan = plan_of("gpulet", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->instances.size(), 2U);
  EXPECT_NEAR(plan->instances[0].share, 0.4, 1e-9);
  EXPECT_NEAR(plan->instances[1].share, 0.6, 1e-9);
  for (const Instance& each : plan->instances) {
    EXPECT_EQ(each.gpu, 0);
    EXPECT_EQ(each.batch, 16);
    EXPECT_NEAR(each.duty_ms, 16'000.0 / 759, 1e-3);
  }
}

/// Without parts each of the two services has a GPU of its own: both together need 2 x 21 ms of
/// every 16 / 759 s. The smallest part that serves 759 a second is 40 %, and the other service
/// takes the other 60 %.
TEST(GpuletPlan, IsComparedWithWholeGpusAndWithTheSmallestParts) {
  const Variant see{
      .name = "a", .task = "see", .fixed_ms = 5, .item_ms = 1, .knee = 0.4, .most_batch = 16};
  Variant hear = see;
  hear.task = "hear";
  const PlanningCase asked{.variants = {see, hear},
                           .services = {{.task = "see", .rate = 690, .slo_ms = 50},
                                        {.task = "hear", .rate = 690, .slo_ms = 50}},
                           .fleet = {.gpus = 4, .beside = 1}};
  const auto whole = plan_of("gpulet_whole", asked), greedy = plan_of("gpulet_greedy", asked);
  ASSERT_TRUE(whole) << to_string(whole.error());
  ASSERT_TRUE(greedy) << to_string(greedy.error());
  EXPECT_EQ(judge(asked, *whole).gpus, 2);
  for (const Instance& each : whole->instances) EXPECT_EQ(each.share, 1);
  EXPECT_EQ(judge(asked, *greedy).gpus, 1);
}

/// A batch without a neighbor is not slowed by one: 759 a second fit on 40 % of a GPU that is
/// otherwise empty. If all batches took 1.5 times as long, 16 would take 31.5 ms and answer 508 a
/// second, so the service would need a second part.
TEST(GpuletPlan, ChargesNeighborsOnlyWhereThereAreSome) {
  const PlanningCase asked{.variants = {{.name = "a",
                                         .task = "see",
                                         .fixed_ms = 5,
                                         .item_ms = 1,
                                         .knee = 0.4,
                                         .most_batch = 16}},
                           .services = {{.task = "see", .rate = 690, .slo_ms = 50}},
                           .fleet = {.gpus = 4, .beside = 1.5}};
  const auto plan = plan_of("gpulet", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->instances.size(), 1U);
  EXPECT_NEAR(plan->instances.front().share, 0.4, 1e-9);
}

/// The released scheduler drops up to 15 requests a second; this planner serves them.
TEST(GpuletPlan, ServesServicesOfFewRequests) {
  const PlanningCase asked{
      .variants = {{.name = "a", .task = "see", .item_ms = 10, .most_batch = 4}},
      .services = {{.task = "see", .rate = 3, .slo_ms = 100}},
      .fleet = {.gpus = 4, .beside = 1}};
  const auto plan = plan_of("gpulet", asked);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_TRUE(judge(asked, *plan).meets(asked));
  EXPECT_EQ(judge(asked, *plan).gpus, 1);
}

}  // namespace
}  // namespace almanac::deployment
