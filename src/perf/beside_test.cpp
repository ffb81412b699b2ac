// SPDX-License-Identifier: Apache-2.0
#include "perf/beside.h"

#include <array>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "perf/catalogue_file.h"

namespace almanac::perf {
namespace {

using Stages = interleave::Stages;

SpeedModel sharer(double suffers, double causes) {
  return SpeedModel({{.suffers = suffers, .causes = causes}});
}

/// A step of five seconds.
SpeedModel staged(const Stages& stages) {
  return SpeedModel({{.suffers = 9, .causes = 9, .step_s = 5, .stages = stages}});
}

TEST(Beside, TakesTurnsWhereAllSayTheirStages) {
  const SpeedModel loads = staged({.load = 4, .compute = 1});
  const SpeedModel computes = staged({.load = 1, .compute = 4});
  const std::array<const SpeedModel*, 1> one{&computes};
  // 4 s of loading next to 4 s of computing, then 1 s next to 1 s; stretched as measured.
  EXPECT_NEAR(part_kept(loads, one, kOtherGpu), 5 / (5 * 1.33 / 1.015), 1e-12);
  EXPECT_LT(part_kept(computes, one, kOtherGpu), 0.5) << "both compute at once";
}

TEST(Beside, GoesByPairsWhereOneSaysNone) {
  const SpeedModel loads = staged({.load = 4, .compute = 1});
  const SpeedModel plain = sharer(1, 1);
  const std::array<const SpeedModel*, 1> one{&plain};
  EXPECT_DOUBLE_EQ(part_kept(loads, one, kOtherGpu), 1 / (1 + 9.0));
  const std::array<const SpeedModel*, 4> four{&loads, &loads, &loads, &loads};
  EXPECT_DOUBLE_EQ(part_kept(loads, four, kOtherGpu), 1 / (1 + 9 * 36.0)) << "more than a group";
}

TEST(Beside, LeavesWhatAllDoMoreThanTheOthersAlone) {
  const SpeedModel quiet = sharer(0.25, 0.25);
  const std::array<const SpeedModel*, 1> one{&quiet};
  EXPECT_NEAR(part_left(quiet, one, kOtherGpu), 2 * 16.0 / 17 - 1, 1e-12);
  const SpeedModel harsh = sharer(1, 4);
  const std::array<const SpeedModel*, 1> bad{&harsh};
  EXPECT_DOUBLE_EQ(part_left(harsh, bad, kOtherGpu), 0.01) << "never nothing";
  const std::array<const SpeedModel*, 2> two{&quiet, &quiet};
  // Three at 8/9 each, two at 16/17 each.
  EXPECT_NEAR(part_left(quiet, two, kOtherGpu), 3 * 8.0 / 9 - 2 * 16.0 / 17, 1e-12);
}

TEST(Beside, LeavesAWholeStepOfTheOtherToEachPartThatFits) {
  // Its 4 s of computing fit in the 4 s in which the other loads, and its second of loading fits in
  // the second in which the other computes.
  const SpeedModel loads = staged({.load = 4, .compute = 1});
  const SpeedModel computes = staged({.load = 1, .compute = 4});
  const std::array<const SpeedModel*, 1> one{&loads};
  EXPECT_DOUBLE_EQ(part_left(computes, one, kOtherGpu), 0.5) << "a step in two of the other's";
}

TEST(Beside, StagesAreReadAndWritten) {
  constexpr const char* kText = R"([[model]]
name = 'm'
[[model.board]]
gpu_type = 'V100'
source = 'made up'
fixed = 5
sample = 0
local = 0
local_more = 0
remote = 0
remote_more = 0
remote_spread = 0
overlap = 1
batch = [1, 1]
gpus = 1
[model.board.stages]
load = 4
compute = 1
network = 0)";
  const auto read = parse_catalogue(kText, "m.toml");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(read->models[0].boards[0].stages);
  EXPECT_EQ(read->models[0].boards[0].stages->load, 4);
  const auto again = parse_catalogue(to_toml(*read), "again.toml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->models[0].boards[0].stages->compute, 1);
  const std::string wrong = fmt::format("{}\nstorage = 1\n", kText);
  EXPECT_FALSE(parse_catalogue(wrong, "m.toml"));
}

/// An iteration of reinforcement learning of 420 s.
SpeedModel phased(double rollout) {
  return SpeedModel({{.suffers = 9,
                      .causes = 9,
                      .step_s = 420,
                      .phases = interleave::Phases{rollout, 420 - rollout, 10}}});
}

TEST(Beside, PhasesOfReinforcementLearningAlternate) {
  const SpeedModel rollouts = phased(300);
  const SpeedModel trainings = phased(120);
  const std::array<const SpeedModel*, 1> fits{&trainings};
  EXPECT_DOUBLE_EQ(part_kept(rollouts, fits, kOtherGpu), 420.0 / 440);
  const std::array<const SpeedModel*, 1> clashes{&rollouts};
  EXPECT_DOUBLE_EQ(part_kept(rollouts, clashes, kOtherGpu), 420.0 / 620);
  // The host leaves 120 s of an iteration for rollouts: 0.4 of one of 300 s.
  EXPECT_DOUBLE_EQ(part_left(rollouts, clashes, kOtherGpu), 0.4);
  const SpeedModel plain = sharer(1, 1);
  const std::array<const SpeedModel*, 1> other{&plain};
  EXPECT_DOUBLE_EQ(part_kept(rollouts, other, kOtherGpu), 1 / (1 + 9.0)) << "by pairs";
}

TEST(Beside, PhasesMustTakeAsLongAsAStep) {
  const auto text = [](const char* phases) {
    return fmt::format(R"([[model]]
name = 'm'
[[model.board]]
gpu_type = 'H100'
source = 'made up'
fixed = 420
sample = 0
local = 0
local_more = 0
remote = 0
remote_more = 0
remote_spread = 0
overlap = 1
batch = [1, 1]
gpus = 8
[model.board.phases]
{})",
                       phases);
  };
  const auto read =
      parse_catalogue(text("rollout = 300\ntraining = 120\nswitching = 10"), "m.toml");
  ASSERT_TRUE(read) << read.error().message;
  const auto again = parse_catalogue(to_toml(*read), "again.toml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->models[0].boards[0].phases->rollout, 300);
  EXPECT_EQ(again->models[0].boards[0].phases->switching, 10);
  const auto wrong =
      parse_catalogue(text("rollout = 300\ntraining = 20\nswitching = 10"), "m.toml");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("420 s by fixed and sample, found 320 s"), std::string::npos)
      << wrong.error().message;
}

}  // namespace
}  // namespace almanac::perf
