// SPDX-License-Identifier: Apache-2.0

/// \file
/// How near the recipes of inference systems come to what is published, on the shared data.
#include <cmath>
#include <cstdio>
#include <string>

#include "reproduce/rows.h"

namespace almanac::reproduce {
namespace {

struct System {
  const char* recipe;
  double absolute;  ///< Half of the last printed digit, of the coarsest column.
  double relative = 0;
};

class PublishedFigures : public testing::TestWithParam<System> {};

TEST_P(PublishedFigures, AreOursToThePrintedDigit) {
  const System& system = GetParam();
  ALMANAC_MADE_OR_SKIP(outcome, system.recipe);
  for (const Row& row : outcome->rows) {
    const double allowed = system.absolute + system.relative * std::abs(row.published);
    EXPECT_TRUE(std::abs(row.ours - row.published) <= allowed)
        << row.what << ": published " << row.published << ", ours " << row.ours;
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, PublishedFigures,
                         testing::Values(System{"blis", 1e-9, 1e-12}, System{"distserve", 6e-7},
                                         System{"splitwise", 1.1e-6}, System{"gpulet", 0},
                                         System{"mooncake", 6e-10}, System{"mig", 0},
                                         System{"mark", 0}, System{"igniter", 6e-5},
                                         System{"nexus", 6e-4, 1e-8}, System{"alpaserve", 1e-9}),
                         [](const auto& each) { return std::string(each.param.recipe); });

TEST(League, EndToEndLatencyIsCloserThanEveryOtherSimulatorWasOrAsClose) {
  ALMANAC_MADE_OR_SKIP(outcome, "league");
  int others = 0, boards = 0, claims = 0;
  for (const Row& row : outcome->rows) {
    if (row.unit != "%") continue;
    std::printf("%s: published %.1f, ours %.1f %%\n", row.what.c_str(), row.published, row.ours);
    if (row.what.find(" claims") != std::string::npos) {
      ++claims;
      EXPECT_NEAR(row.ours, row.published, 0.1) << row.what;
    }
    const bool end_to_end = row.what.find("error of e2e_mean") != std::string::npos;
    if (!row.what.starts_with("evaluation") || !end_to_end) continue;
    if (row.what.find("covers") != std::string::npos) {
      ++others;
      EXPECT_LT(row.ours, 11.8) << row.what;
    } else if (row.what.find("absolute") != std::string::npos) {
      ++boards;
      EXPECT_LT(row.ours, 15) << row.what;
    }
  }
  EXPECT_EQ(others, 7);
  EXPECT_EQ(boards, 3);
  EXPECT_EQ(claims, 3 + 8) << "of three boards, and of eight of their models";
}

TEST(PublishedServegen, IsDrawnFromTheSameDistributions) {
  ALMANAC_MADE_OR_SKIP(outcome, "servegen");
  int checked = 0;
  for (const Row& row : outcome->rows) {
    if (row.what.ends_with("told apart at 5 %")) {
      EXPECT_EQ(row.ours, 0) << row.what;
      ++checked;
    } else if (row.what.ends_with(": requests")) {
      EXPECT_NEAR(row.ours, row.published, 14) << row.what;  // at most one a client
    } else if (row.what.ends_with(", mean") || row.what.find("variation") != std::string::npos) {
      EXPECT_NEAR(row.ours, row.published, 0.06 * row.published) << row.what;
    }
  }
  EXPECT_GE(checked, 10);
}

}  // namespace
}  // namespace almanac::reproduce
