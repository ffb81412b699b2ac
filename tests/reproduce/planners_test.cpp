// SPDX-License-Identifier: Apache-2.0

/// \file
/// Planners that `inference deploy` runs against the released programs of their systems.
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "deployment/registry.h"
#include "serving/igniter.h"
#include "support/shared_data.h"
#include "table/csv_reader.h"

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

/// iGniter's authors measured pairs of models that share a V100 by MPS. Each predictor here gets
/// the measured time alone, so that only what a neighbor adds is judged. The constant of deploy is
/// the median of these pairs, so its error is in-sample; iGniter's fit has not seen them.
TEST(ReleasedIgniter, PredictsMeasuredNeighborsWithinFivePercent) {
  const auto pairs = shared_path("data/mps_v100/pairs.csv");
  const auto fitted = shared_path("data/igniter/v100_fitted.json");
  if (!pairs || !fitted) GTEST_SKIP() << "data/mps_v100 or data/igniter is not available";
  std::ifstream file(*fitted);
  const auto all = nlohmann::json::parse(file);
  const auto& board = all["hardware"];
  serving::IgniterProfile profile;
  profile.board = {.frequency = board["max_frequency_mhz"],
                   .power_cap = board["power_cap_w"],
                   .idle_power = board["idle_power_w"],
                   .share_unit = board["share_unit_percent"],
                   .bytes_per_ms = 1e12,
                   .frequency_slope = board["freq_slope_mhz_per_w"],
                   .sched_slope = board["sched_slope_ms"],
                   .sched_offset = board["sched_offset_ms"]};
  std::map<std::string, nlohmann::json> models;
  for (const auto& each : all["models"]) models[each["model"].get<std::string>()] = each;
  auto csv = table::CsvReader::open(*pairs);
  ASSERT_TRUE(csv) << to_string(csv.error());
  const auto text_of = [&](const std::string& column) {
    return std::string((*csv)[*csv->find(column)]);
  };
  const auto number = [&](const std::string& column) { return std::stod(text_of(column)); };
  double igniter = 0, constant = 0, none = 0;
  int count = 0;
  for (auto more = csv->next(); more && *more; more = csv->next()) {
    std::vector<serving::IgniterResident> residents;
    for (const char side : {'a', 'b'}) {
      const std::string end(1, side);
      const auto& model = models.at(text_of("model_" + end));
      // k3 / share is the measured time alone.
      const double share = number("share_" + end + "_percent");
      profile.models[end] = {.kernels = model["kernels"],
                             .k3 = share * number("solo_" + end + "_ms"),
                             .power_slope = model["power_slope"],
                             .power_offset = model["power_offset"],
                             .l2_slope = model["l2_slope"],
                             .l2_offset = model["l2_offset"],
                             .l2_sensitivity = model["l2_sensitivity"]};
      residents.push_back({.model = end, .batch = number("batch_" + end), .share = share});
    }
    const auto together = serving::forecast(profile, residents);
    for (const std::size_t each : {0U, 1U}) {
      const std::string end(1, each == 0 ? 'a' : 'b');
      const double alone = number("solo_" + end + "_ms"),
                   measured = number("latency_" + end + "_ms");
      const double predicted =
          alone * together[each].latency / serving::forecast(profile, {residents[each]})[0].latency;
      igniter += std::abs(predicted / measured - 1);
      constant += std::abs(deployment::GpuFleet{}.beside * alone / measured - 1);
      none += std::abs(alone / measured - 1);
      ++count;
    }
  }
  EXPECT_EQ(count, 1000);
  EXPECT_NEAR(100 * none / count, 8.7, 0.05) << "as published with the measurements";
  EXPECT_NEAR(100 * constant / count, 3.0, 0.05);
  EXPECT_NEAR(100 * igniter / count, 4.7, 0.05);
}

}  // namespace
}  // namespace almanac
