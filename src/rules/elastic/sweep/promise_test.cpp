// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/sweep/promise.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace almanac::elastic {
namespace {

TEST(Promise, GivesSlotsWhereAskedAndDeservedMeet) {
  // Asked for at 0.9, 0.6, 0.2: 1, 2, 3 slots; deserved of 2: 1.8, 1.2, 0.4.
  EXPECT_EQ(promising_from(std::vector{0.2, 0.9, 0.6}, 2), 0.6);
  // Of 1 slot: 0.9, 0.6, 0.2.
  EXPECT_EQ(promising_from(std::vector{0.2, 0.9, 0.6}, 1), 0.9);
  // Of 20 slots all that are asked for are deserved.
  EXPECT_EQ(promising_from(std::vector{0.2, 0.9, 0.6}, 20), 0.2);
  // Two trials with the same chance count together: 2 of the 2.7 deserved, compared with 1.5 at
  // 0.5.
  EXPECT_EQ(promising_from(std::vector{0.9, 0.9, 0.5}, 3), 0.9);
  EXPECT_EQ(promising_from({}, 3), 1);
}

std::vector<LossPoint> reports(int count, double level, double error, Rng& random) {
  std::vector<LossPoint> made;
  for (int at = 1; at <= count; ++at) {
    const double noise = error * (random.uniform() + random.uniform() - 1);
    made.push_back({at * 10.0, level + std::exp(-0.01 * at * 10) + noise});
  }
  return made;
}

TEST(Promise, IsSureOfWhatIsFarFromTheTarget) {
  Rng random(3);
  const auto losses = reports(20, 0.5, 0.02, random);  // at 400 steps: a loss of 0.52
  EXPECT_GT(chance_of(losses, 400, -0.8), 0.95);
  EXPECT_LT(chance_of(losses, 400, -0.1), 0.05);
  EXPECT_GE(chance_of(losses, 400, -0.6), chance_of(losses, 400, -0.5));
  EXPECT_GE(chance_of(losses, 400, -0.6), chance_of(losses, 200, -0.6));
}

TEST(Promise, OfAFlatCurveIsNone) {
  const std::vector<LossPoint> flat{{10, -0.5}, {20, -0.5}, {30, -0.5}, {40, -0.5}};
  EXPECT_LT(chance_of(flat, 1000, 0.9), 1e-6);
  EXPECT_GT(chance_of(flat, 1000, 0.4), 0.99);
}

// Of targets chosen at random around where the curves really end, those believed likely are reached
// far more often than those believed unlikely.
TEST(Promise, TellsTargetsThatAreReachedFromOthers) {
  Rng random(11);
  int likely = 0;
  int likely_reached = 0;
  int unlikely = 0;
  int unlikely_reached = 0;
  for (int round = 0; round < 200; ++round) {
    const double level = random.uniform();
    const auto losses = reports(10, level, 0.02, random);
    const double end = level + std::exp(-3.0);
    const double target = -end + 0.4 * (random.uniform() - 0.5);
    const double chance = chance_of(losses, 300, target);
    const bool is_reached = -end >= target;
    if (chance > 0.8) ++likely, likely_reached += is_reached;
    if (chance < 0.2) ++unlikely, unlikely_reached += is_reached;
  }
  EXPECT_GT(likely, 40);
  EXPECT_GT(unlikely, 25);
  EXPECT_GT(likely_reached, 0.8 * likely);
  EXPECT_LT(unlikely_reached, 0.2 * unlikely);
}

}  // namespace
}  // namespace almanac::elastic
