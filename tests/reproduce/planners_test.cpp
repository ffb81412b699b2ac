// SPDX-License-Identifier: Apache-2.0

/// \file
/// Planners that `inference deploy` runs against the released programs of their systems.
#include <cmath>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "deployment/registry.h"
#include "serving/igniter.h"

namespace almanac {
namespace {

/// Boards and models without interference: a batch of b takes fixed + b * item on a whole GPU, and
/// proportionally longer on a share.
serving::IgniterProfile profile_of(const std::vector<deployment::Variant>& variants) {
  serving::IgniterProfile made;
  made.board = {.frequency = 1, .power_cap = 1, .share_unit = 2.5, .bytes_per_ms = 1};
  for (const deployment::Variant& each : variants) {
    made.models[each.name] = {.k2 = 100 * each.item_ms, .k3 = 100 * each.fixed_ms};
  }
  return made;
}

TEST(ReleasedIgniter, MakesThePlansOfDeployWhereNeighborsDoNotMatter) {
  int compared = 0, dedicated = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    deployment::PlanningCase asked{.fleet = {.gpus = 1000, .beside = 1}};
    std::vector<serving::IgniterWorkload> workloads;
    for (std::uint64_t each = 0; each < 1 + rng.below(6); ++each) {
      const std::string name(1, static_cast<char>('a' + each));
      const deployment::Variant variant{.name = name,
                                        .task = name,
                                        .fixed_ms = 1 + 5 * rng.uniform(),
                                        .item_ms = 0.2 + 2 * rng.uniform(),
                                        .most_batch = 32};
      const double slo_ms = 20 + 100 * rng.uniform(), rate = 10 + 600 * rng.uniform();
      asked.variants.push_back(variant);
      asked.services.push_back({.task = name, .rate = rate, .slo_ms = slo_ms});
      workloads.push_back({.model = name, .slo = slo_ms, .rate = rate});
    }
    const auto released = serving::plan_igniter(profile_of(asked.variants), workloads);
    bool has_fault = false;  // batches and shares that do not exist
    for (const deployment::TaskService& each : asked.services) {
      has_fault = has_fault || std::ceil(each.rate * each.slo_ms / 2000) > 32;
    }
    for (const auto& gpu : released) {
      for (const auto& each : gpu) {
        has_fault = has_fault || each.batch > 32 || each.share <= 0 || each.share > 100;
      }
    }
    if (has_fault) continue;
    const auto plan = deployment::registry().planners.find("igniter")->make.plan(asked);
    ASSERT_TRUE(plan) << to_string(plan.error());
    std::size_t at = 0;
    for (std::size_t gpu = 0; gpu < released.size(); ++gpu) {
      dedicated += released[gpu].size() == 1 && released[gpu].front().share == 100;
      for (const serving::IgniterResident& each : released[gpu]) {
        ASSERT_LT(at, plan->instances.size());
        const deployment::Instance& ours = plan->instances[at++];
        EXPECT_EQ(ours.gpu, static_cast<int>(gpu));
        EXPECT_EQ(asked.variants[ours.variant].name, each.model);
        EXPECT_EQ(ours.batch, each.batch);
        EXPECT_NEAR(100 * ours.share, each.share, 1e-6);
      }
    }
    EXPECT_EQ(at, plan->instances.size());
    ++compared;
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(dedicated, 20);
}

}  // namespace
}  // namespace almanac
