// SPDX-License-Identifier: Apache-2.0

/// \file
/// How few GPUs MIG-Serving's plans have.
#include <algorithm>
#include <array>
#include <functional>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "deployment/deployment.h"
#include "deployment/planner/mig_serving/mig_case.h"
#include "deployment/registry.h"

namespace almanac::deployment {
namespace {

Result<Deployment> mig_plan(const PlanningCase& asked) {
  return registry().planners.find("mig_serving")->make.plan(asked);
}

/// Whether a service got no instance and so has no rate.
bool lacks_a_rate(const PlanningCase& asked) {
  return std::any_of(asked.services.begin(), asked.services.end(),
                     [](const TaskService& each) { return each.rate == 0; });
}

/// The fewest GPUs for two services, by trying every division of every GPU; 0 = more than `most`.
int exact_gpus(const PlanningCase& asked, int most) {
  const auto part = [&](const TaskService& service, int slices) {
    double best = 0;
    for (const Variant& each : asked.variants) {
      const int batch = batch_in_time(each, slices / 7.0, service.slo_ms);
      if (each.task != service.task || each.accuracy < service.accuracy || batch == 0 ||
          each.memory_gib > mig_memory(slices) * asked.fleet.memory_gib) {
        continue;
      }
      best = std::max(best, throughput(each, slices / 7.0, batch) / service.rate);
    }
    return best;
  };
  std::vector<std::array<double, 2>> gpus;  // what one gives each service
  for (const auto& split : mig_splits()) {
    for (unsigned mask = 0; mask < 1U << split.size(); ++mask) {
      std::array<double, 2> gives{};
      for (std::size_t each = 0; each < split.size(); ++each) {
        const unsigned service = mask >> each & 1;
        gives[service] += part(asked.services[service], split[each]);
      }
      gpus.push_back(gives);
    }
  }
  std::vector<std::array<double, 2>> useful;
  for (const auto& one : gpus) {
    const auto is_better = [&](const auto& other) {
      return other[0] >= one[0] && other[1] >= one[1] && other != one;
    };
    if (std::none_of(gpus.begin(), gpus.end(), is_better) &&
        std::find(useful.begin(), useful.end(), one) == useful.end()) {
      useful.push_back(one);
    }
  }
  const std::function<bool(double, double, int, std::size_t)> does =
      [&](double one, double other, int left, std::size_t from) {
        if (one <= 1e-9 && other <= 1e-9) return true;
        for (std::size_t each = from; left > 0 && each < useful.size(); ++each) {
          if (does(one - useful[each][0], other - useful[each][1], left - 1, each)) return true;
        }
        return false;
      };
  for (int count = 1; count <= most; ++count) {
    if (does(1, 1, count, 0)) return count;
  }
  return 0;
}

/// Services whose rates are what the instances of `gpus` randomly divided GPUs give them, so that a
/// plan with that many GPUs exists.
PlanningCase filled_gpus(std::uint64_t seed, std::size_t services, int gpus) {
  Rng rng(seed);
  PlanningCase made{.fleet = {.gpus = 1000, .mig = true}};
  for (std::size_t each = 0; each < services; ++each) {
    const std::string task = "task" + std::to_string(each);
    made.variants.push_back({.name = task,
                             .task = task,
                             .accuracy = 1,
                             .fixed_ms = 2 + 8 * rng.uniform(),
                             .item_ms = 1 + 2 * rng.uniform(),
                             .knee = 0.2 + 0.8 * rng.uniform(),
                             .most_batch = 16,
                             .memory_gib = 1});
    made.services.push_back({.task = task, .slo_ms = 60 + 100 * rng.uniform()});
  }
  for (int gpu = 0; gpu < gpus; ++gpu) {
    for (const int slices : mig_splits()[rng.below(mig_splits().size())]) {
      const std::size_t each = rng.below(services);
      const double share = slices / 7.0;
      const int batch = batch_in_time(made.variants[each], share, made.services[each].slo_ms);
      made.services[each].rate +=
          batch == 0 ? 0 : 0.9999 * throughput(made.variants[each], share, batch);
    }
  }
  return made;
}

/// The variant needs more than half of the memory, so a whole GPU. It is as fast on five slices,
/// but no division has five: five times the rate of a GPU needs five GPUs, not 25 / 7.
TEST(MigServing, KnowsThatNoInstanceHasFiveSlices) {
  PlanningCase asked{.variants = {{.name = "a",
                                   .task = "see",
                                   .accuracy = 1,
                                   .item_ms = 1,
                                   .knee = 5.0 / 7,
                                   .memory_gib = 50}},
                     .services = {{.task = "see", .rate = 5000, .slo_ms = 10}},
                     .fleet = {.gpus = 10, .mig = true}};
  const planner::MigCase made(asked);
  EXPECT_EQ(made.least_gpus(made.lacking({})), 5U);
}

/// A GPU answers at most 1,000 requests/s. The second service needs five, and the first has nothing
/// to do with it.
TEST(Planners, NameNoServiceWhereAllTogetherAreTooMany) {
  PlanningCase asked{
      .variants = {{.name = "a", .task = "see", .item_ms = 1, .most_batch = 16, .memory_gib = 1}},
      .services = {{.task = "see", .rate = 10, .slo_ms = 300},
                   {.task = "see", .rate = 5000, .slo_ms = 300}},
      .fleet = {.gpus = 2}};
  const auto refusal = [&](const std::string& name) {
    asked.fleet.mig = name == "mig_serving";
    const auto plan = registry().planners.find(name)->make.plan(asked);
    return plan ? "a plan" : plan.error().message;
  };
  EXPECT_EQ(refusal("gpulet"), "2 GPUs cannot serve all 2 services together");
  EXPECT_EQ(refusal("mig_serving"), "2 GPUs cannot serve all 2 services together");
  asked.services.erase(asked.services.begin());
  asked.fleet.gpus = 1;
  EXPECT_EQ(refusal("mig_serving"), "1 GPU cannot answer 5000 requests/s of see");
}

TEST(MigServing, FindsTheFewestGpusForTwoServices) {
  int cases = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const PlanningCase asked = filled_gpus(seed, 2, 1 + static_cast<int>(seed % 3));
    if (lacks_a_rate(asked)) continue;
    const auto plan = mig_plan(asked);
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_EQ(judge(asked, *plan).gpus, exact_gpus(asked, 4)) << seed;
    ++cases;
  }
  EXPECT_GT(cases, 50);
}

/// The greedy phase fills one GPU at a time, and often needs one more than the known plan.
TEST(MigServing, FindsSmallPlansThatTheGreedyPhaseMisses) {
  int cases = 0, greedy = 0, found = 0;
  for (const std::size_t services : {3, 4}) {
    for (const int gpus : {2, 3}) {
      for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const PlanningCase asked = filled_gpus(100 * seed + 10 * services, services, gpus);
        if (lacks_a_rate(asked)) continue;
        const auto plan = mig_plan(asked);
        ASSERT_TRUE(plan) << to_string(plan.error());
        EXPECT_TRUE(judge(asked, *plan).meets(asked));
        EXPECT_TRUE(check(asked, *plan));
        ++cases;
        found += judge(asked, *plan).gpus <= gpus;
        greedy += planner::MigCase(asked).greedy({}).size() <= static_cast<std::size_t>(gpus);
      }
    }
  }
  EXPECT_GE(found, 0.95 * cases);
  EXPECT_GT(found, greedy + 5);
}

}  // namespace
}  // namespace almanac::deployment
