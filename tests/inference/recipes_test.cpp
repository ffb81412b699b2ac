// SPDX-License-Identifier: Apache-2.0

/// \file
/// Every family of published figures of the room, to the printed digit, where the shared data are
/// at hand.
#include "serving/recipe/recipes.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/shared_data.h"

namespace almanac::inference {
namespace {

struct Family {
  const char* name;
  Compare compare;
  double absolute;  ///< Half of the last printed digit, of the coarsest column.
  double relative = 0;
};

class PublishedFigures : public testing::TestWithParam<Family> {};

TEST_P(PublishedFigures, AreOursToThePrintedDigit) {
  const Family& family = GetParam();
  const auto golden = shared_path("golden");
  const auto data = shared_path("data");
  if (!golden || !data) GTEST_SKIP() << "the shared data are not at hand";
  const auto made = family.compare({*data, *golden});
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  for (const Error& error : made->errors()) ADD_FAILURE() << to_string(error);
  ASSERT_FALSE(made->figures().empty());
  for (const Figure& each : made->figures()) {
    const double allowed = family.absolute + family.relative * std::abs(each.published);
    EXPECT_TRUE(std::abs(each.ours - each.published) <= allowed)
        << each.what << ": published " << each.published << ", ours " << each.ours;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, PublishedFigures,
                         testing::Values(Family{"blis", compare_blis, 1e-9, 1e-12},
                                         Family{"distserve", compare_distserve, 6e-7},
                                         Family{"splitwise", compare_splitwise, 1.1e-6},
                                         Family{"gpulet", compare_gpulet, 0},
                                         Family{"mooncake", compare_mooncake, 6e-10},
                                         Family{"mig", compare_mig, 0},
                                         Family{"mark", compare_mark, 0},
                                         Family{"igniter", compare_igniter, 6e-5},
                                         Family{"nexus", compare_nexus, 6e-4, 1e-8},
                                         Family{"alpaserve", compare_alpaserve, 1e-9}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(MeasuredVllm, IsNotFarFromWhatTheRooflineSays) {
  const auto data = shared_path("data/llm/league/blis_runs.csv");
  if (!data) GTEST_SKIP() << "the shared data are not at hand";
  const auto made = compare_vllm({*shared_path("data"), ""});
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  for (const Error& error : made->errors()) ADD_FAILURE() << to_string(error);
  int checked = 0;
  for (const Figure& each : made->figures()) {
    if (each.unit == "%") std::printf("%s %.1f %%\n", each.what.c_str(), each.ours);
    if (each.what.find("mean absolute error") == std::string::npos) continue;
    ++checked;
    // Receiving and tokenizing a request is not counted, so that TTFT is a lower bound.
    const bool of_first = each.what.find("TTFT") != std::string::npos;
    EXPECT_LT(each.ours, of_first ? 75 : 20) << each.what;
  }
  EXPECT_EQ(checked, 12);
}

TEST(PublishedServegen, IsDrawnFromTheSameDistributions) {
  const auto golden = shared_path("golden");
  const auto data = shared_path("data");
  if (!golden || !data) GTEST_SKIP() << "the shared data are not at hand";
  const auto made = compare_servegen({*data, *golden});
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  for (const Error& error : made->errors()) ADD_FAILURE() << to_string(error);
  int checked = 0;
  for (const Figure& each : made->figures()) {
    if (each.what.ends_with("told apart at 5 %")) {
      EXPECT_EQ(each.ours, 0) << each.what;
      ++checked;
    } else if (each.what.ends_with(": requests")) {
      EXPECT_NEAR(each.ours, each.published, 14) << each.what;  // at most one a client
    } else if (each.what.ends_with(", mean") || each.what.find("variation") != std::string::npos) {
      EXPECT_NEAR(each.ours, each.published, 0.06 * each.published) << each.what;
    }
  }
  EXPECT_GE(checked, 10);
}

}  // namespace
}  // namespace almanac::inference
