// SPDX-License-Identifier: Apache-2.0
#include "submission/trials/draw.h"

#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "submission/trials/job.h"
#include "submission/trials/placeholders.h"

namespace almanac::trials {
namespace {

using testing::ElementsAre;

Space random_space(std::int64_t trials) {
  return {.command = {"train"},
          .steps = 10,
          .seed = 7,
          .trials = trials,
          .parameters = {{"lr", Range{.from = 1e-5, .to = 0.1, .is_log = true}},
                         {"depth", Range{.from = 2, .to = 5, .is_whole = true}},
                         {"kernel", Choices{{"relu", "gelu"}}}}};
}

TEST(Draw, IsTheSameOnEveryMachine) {
  const auto trials = draw(random_space(3));
  ASSERT_EQ(trials.size(), 3U);
  EXPECT_EQ(trials[0].number, 1);
  EXPECT_THAT(trials[0].values, ElementsAre("0.000109826", "5", "relu"));
  EXPECT_THAT(trials[2].values, ElementsAre("1.59456e-05", "4", "gelu"));
}

TEST(Draw, ValuesOfANarrowRangeStayInside) {
  const Parameter narrow{"x", Range{.from = 1'000'000.5, .to = 1'000'003.5}};
  const Space space{.seed = 3, .trials = 50, .parameters = {narrow}};
  std::set<std::string> seen;
  for (const Trial& trial : draw(space)) {
    EXPECT_TRUE(has_value(narrow, trial.values[0])) << trial.values[0];
    seen.insert(trial.values[0]);
  }
  EXPECT_GT(seen.size(), 40U);
}

TEST(Draw, LeavesWhatWasDrawnAsItWasWhenThereIsMore) {
  const auto few = draw(random_space(5));
  const auto more = draw(random_space(9));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), more.begin()));
  Space wider = random_space(5);
  wider.parameters.insert(wider.parameters.begin(), {"batch", Choices{{"32", "64"}}});
  const auto wide = draw(wider);
  for (std::size_t at = 0; at < few.size(); ++at) {
    EXPECT_EQ(wide[at].values[1], few[at].values[0]);
    EXPECT_EQ(wide[at].values[3], few[at].values[2]);
  }
  Space other = random_space(5);
  other.seed = 8;
  EXPECT_NE(draw(other), few);
}

TEST(Draw, IsAsLikelyAnywhereInTheRange) {
  std::map<std::string, int> depths;
  std::map<std::string, int> kernels;
  int low = 0;
  constexpr int kAll = 8'000;
  for (const Trial& each : draw(random_space(kAll))) {
    ++depths[each.values[1]];
    ++kernels[each.values[2]];
    const double lr = std::stod(each.values[0]);
    EXPECT_GE(lr, 1e-5);
    EXPECT_LE(lr, 0.1);
    low += lr < 1e-3 ? 1 : 0;  // half of the range, by ratio
  }
  // Six standard deviations of a fair draw: it fails once in 500 million seeds.
  constexpr double kSix = 6;
  const auto is_fair = [&](int seen, double part) {
    return std::abs(seen - part * kAll) < kSix * std::sqrt(part * (1 - part) * kAll);
  };
  ASSERT_EQ(depths.size(), 4U);
  for (const char* const each : {"2", "3", "4", "5"})
    EXPECT_TRUE(is_fair(depths[each], 0.25)) << each;
  EXPECT_TRUE(is_fair(kernels["relu"], 0.5));
  EXPECT_TRUE(is_fair(low, 0.5));
}

TEST(Draw, GoesThroughAGridTheLastParameterFastest) {
  const Space space{
      .search = Search::grid,
      .parameters = {{"lr", Range{.from = 1e-4, .to = 1e-2, .is_log = true, .points = 3}},
                     {"depth", Range{.from = 2, .to = 3, .is_whole = true}},
                     {"wide", Choices{{"true"}}}}};
  std::vector<std::string> seen;
  for (const Trial& each : draw(space)) {
    seen.push_back(std::to_string(each.number) + " " + each.values[0] + " " + each.values[1]);
  }
  EXPECT_THAT(seen, ElementsAre("1 0.0001 2", "2 0.0001 3", "3 0.001 2", "4 0.001 3", "5 0.01 2",
                                "6 0.01 3"));
}

TEST(Placeholders, AreFilledAndOtherBracesLeftAlone) {
  const auto value = [](const std::string& name) { return "<" + name + ">"; };
  EXPECT_EQ(filled("--lr={lr}/{x}", value), "--lr=<lr>/<x>");
  EXPECT_EQ(filled(R"({"a": {"b": 1}} {} { lr } {1})", value), R"({"a": {"b": 1}} {} { lr } {1})");
  EXPECT_EQ(filled("awk '{{print}}'", value), "awk '{print}'");
  EXPECT_THAT(placeholders("{lr} {{no}} {x}"), ElementsAre("lr", "x"));
}

TEST(TrialJob, IsToldItsParametersThreeWaysAndHasAKey) {
  Space space = random_space(1);
  space.command = {"train", "--lr={lr}", "{flags}", "--log={trial}.log"};
  space.smaller_is_better = true;
  const Trial trial{.number = 4, .values = {"0.01", "3", "a b"}};
  store::Submission base{.name = "x", .user = "ann"};
  base.environment = {"PATH=/bin", "ALMANAC_TRIAL=9"};
  const store::Submission job = to_job(space, "mnist", trial, base);
  EXPECT_EQ(job.name, "mnist-4");
  EXPECT_EQ(job.group, "mnist");
  EXPECT_EQ(job.key, "sweep/mnist/4");
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(job.steps, 10);
  EXPECT_TRUE(job.smaller_is_better);
  EXPECT_THAT(job.parameters, ElementsAre("lr=0.01", "depth=3", "kernel=a b"));
  EXPECT_THAT(job.argv, ElementsAre("train", "--lr=0.01", "--lr=0.01", "--depth=3", "--kernel=a b",
                                    "--log=4.log"));
  EXPECT_THAT(job.environment, ElementsAre("PATH=/bin", "ALMANAC_SWEEP=mnist", "ALMANAC_TRIAL=4",
                                           "ALMANAC_PARAMETER_lr=0.01", "ALMANAC_PARAMETER_depth=3",
                                           "ALMANAC_PARAMETER_kernel=a b"));
}

}  // namespace
}  // namespace almanac::trials
