// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/power_limits.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "energy/power_file.h"

namespace almanac::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A board of 200 W whose GPU at full use works in proportion to its limit.
energy::PowerModel board() {
  return {.name = "even",
          .gpus = 2,
          .idle_w = 100,
          .full_w = 500,
          .gpu_type = "V100",
          .gpu_limit_w = 200,
          .gpu_least_limit_w = 50,
          .gpu_curve = {.idle = 0, .full = 1, .bend = 1, .strain = 1},
          .gpu_use = {{"bert_base_uncased", 1}, {"ncf", 0.5}}};
}

cluster::Cluster nodes_of(std::vector<cluster::NodeClass> kinds) {
  cluster::Cluster made;
  made.takes_every_job = true;
  made.add_vc("all");
  for (const cluster::NodeClass& kind : kinds) made.add_nodes(kind, 1);
  return made;
}

std::string error_of(const cluster::NodeClass& kind) {
  const auto made = PowerLimits::of(nodes_of({kind}), board());
  return made ? "none" : to_string(made.error());
}

TEST(PowerLimits, ByHand) {
  const auto made = PowerLimits::of(nodes_of({{.gpus = 2},
                                              {.gpus = 2, .gpu_power_limit_w = 100},
                                              {.gpus = 2, .gpu_power_limit_w = 200},
                                              {.gpus = 2, .gpu_power_limit_w = 300},
                                              {.gpus = 0, .cpus = 8, .gpu_power_limit_w = 10}}),
                                    board());
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_TRUE(made->any());
  EXPECT_THAT(made->speeds(1), ElementsAre(1, 0.5, 1, 1, 1));
  // Half of the board is asked for, half is left: 1 / (2 + 2 - 1) = 1/3 of it is drawn.
  EXPECT_DOUBLE_EQ(made->speeds(0.5)[1], 2.0 / 3);
  EXPECT_THAT(made->speeds(0), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_DOUBLE_EQ(made->spared(1, 1), 0.5);
  EXPECT_EQ(made->spared(1, 0), 0);
  EXPECT_EQ(made->spared(1, 3), 0);
}

TEST(PowerLimits, KnowsTheUseOfModelsThatWereMeasured) {
  const auto made = PowerLimits::of(nodes_of({{.gpus = 2, .gpu_power_limit_w = 100}}), board());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->use_of("bert"), 1) << "as perf names it";
  EXPECT_EQ(made->use_of("NCF"), 0.5);
  EXPECT_EQ(made->use_of("resnet-50"), std::nullopt);
  EXPECT_EQ(made->use_of(""), std::nullopt);
  EXPECT_EQ(made->usual_use(), 0.75);
}

TEST(PowerLimits, AreNoneWhereNoNodeHasOne) {
  const auto made = PowerLimits::of(nodes_of({{.gpus = 2, .gpu_type = "K80"}}), board());
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->any());
  EXPECT_TRUE(made->speeds(1).empty());
  EXPECT_EQ(made->spared(1, 0), 0);
}

TEST(PowerLimits, MayBeSetWhereAllGpusAreOfThePowerModel) {
  const auto made = PowerLimits::of_jobs_too(
      nodes_of({{.gpus = 2}, {.gpus = 2, .gpu_power_limit_w = 100}}), board());
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->may_be_set());
  EXPECT_DOUBLE_EQ(made->speed(1, 0), 1);
  EXPECT_DOUBLE_EQ(made->speed(1, 0, 150), 0.75);
  EXPECT_DOUBLE_EQ(made->speed(1, 1, 150), 0.5) << "the lower one counts";
  EXPECT_DOUBLE_EQ(made->speed(1, 1, 1), 0.25) << "it takes none below 50 W";
  EXPECT_EQ(made->choices_w().front(), 50);
  EXPECT_EQ(made->choices_w().back(), 200);
  const auto other =
      PowerLimits::of_jobs_too(nodes_of({{.gpus = 2}, {.gpus = 2, .gpu_type = "K80"}}), board());
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->may_be_set());
  EXPECT_FALSE(other->any());
}

TEST(PowerLimits, SayWhatWasMeasured) {
  EXPECT_THAT(error_of({.gpus = 2, .gpu_power_limit_w = 40}),
              HasSubstr("gpu_power_limit_w must be 50 to 200, the limits of a V100 in the power "
                        "model even, or higher for no limit; found 40"));
  EXPECT_THAT(error_of({.gpus = 2, .gpu_type = "A100", .gpu_power_limit_w = 100}),
              HasSubstr("gpu_power_limit_w is set for GPUs of type A100, but the power model even "
                        "only knows how a limit affects a V100"));
  EXPECT_EQ(error_of({.gpus = 2, .gpu_type = "Tesla V100-SXM2", .gpu_power_limit_w = 100}), "none");
}

RC_GTEST_PROP(PowerLimits, NeverSpeedUpAndFallWithTheLimit, ()) {
  const auto presets = energy::presets();
  const auto which = *rc::gen::inRange<std::size_t>(0, presets.size());
  const auto power = energy::read_power(std::string(presets[which].name)).value();
  const auto any_limit = [&] {
    return power.gpu_least_limit_w +
           *rc::gen::inRange(0, 1201) / 1e3 * (power.gpu_limit_w - power.gpu_least_limit_w);
  };
  const double one = any_limit();
  const double other = any_limit();
  const auto made =
      PowerLimits::of(nodes_of({{.gpus = 8, .gpu_power_limit_w = std::min(one, other)},
                                {.gpus = 8, .gpu_power_limit_w = std::max(one, other) + 0.001}}),
                      power);
  RC_ASSERT(made.has_value());
  const std::vector<double> speeds = made->speeds(*rc::gen::inRange(0, 1001) / 1e3);
  RC_ASSERT(speeds[0] > 0);
  RC_ASSERT(speeds[0] <= speeds[1]);
  RC_ASSERT(speeds[1] <= 1);
  RC_ASSERT(made->spared(1, 0) >= made->spared(1, 1));
  RC_ASSERT(made->spared(1, 1) >= 0);
}

}  // namespace
}  // namespace almanac::policy
