// SPDX-License-Identifier: Apache-2.0
#include "experiment/noise.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::experiment {
namespace {

using testing::ElementsAre;

SweepPoint point(const std::string& policy, double wait_s) {
  Summary summary;
  summary.policy = policy;
  summary.avg_wait_s = wait_s;
  return {.summary = std::move(summary)};
}

TEST(Noise, APolicyIsPlayedWithBetterAndWorsePredictions) {
  const std::vector<std::string> policies{"qssf"};
  EXPECT_THAT(noise_plan(policies),
              ElementsAre("easy", "qssf+oracle", "qssf+lognormal:0.25", "qssf+lognormal:0.5",
                          "qssf+lognormal:1", "qssf+lognormal:1.5", "qssf+lognormal:2",
                          "qssf+lognormal:3"));
  EXPECT_TRUE(reads_run_times("qssf"));
  EXPECT_FALSE(reads_run_times("fifo"));
}

TEST(Noise, ThePointAtWhichItIsWorseIsInterpolated) {
  // Waits of 100 s under easy; 80 at sigma 1 and 120 at 1.5: 100 in the middle.
  const std::vector<std::string> policies{"qssf"};
  std::vector<SweepPoint> points{point("easy", 100)};
  const double waits[] = {50, 60, 70, 80, 120, 90, 200};
  for (std::size_t at = 0; at < kNoise.size(); ++at) {
    points.push_back(point(with_noise("qssf", kNoise[at]), waits[at]));
  }
  const auto rows = noise_rows(policies, points);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THAT(rows[0].wait_s, testing::ElementsAreArray(waits));
  EXPECT_DOUBLE_EQ(*rows[0].worse_from, 1.25);
}

TEST(Noise, APolicyMayAlwaysOrNeverBeWorse) {
  const std::vector<std::string> policies{"qssf", "sjf"};
  std::vector<SweepPoint> points{point("easy", 100)};
  for (const double sigma : kNoise) {
    points.push_back(point(with_noise("qssf", sigma), 99));
    points.push_back(point(with_noise("sjf", sigma), 101));
  }
  const auto rows = noise_rows(policies, points);
  EXPECT_FALSE(rows[0].worse_from);
  EXPECT_EQ(rows[1].worse_from, 0);
}

}  // namespace
}  // namespace almanac::experiment
