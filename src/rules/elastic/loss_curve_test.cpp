// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/loss_curve.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace almanac::elastic {
namespace {

template <typename Loss>
std::vector<LossPoint> points_of(int count, double every, Loss&& loss) {
  std::vector<LossPoint> made;
  for (int at = 1; at <= count; ++at) made.push_back({at * every, loss(at * every)});
  return made;
}

TEST(LossCurve, GoesOnAsAnExactCurveDoes) {
  const auto sublinear = [](double k) { return 1 / (0.02 * k + 0.5) + 0.3; };
  const auto exponential = [](double k) { return 2 * std::exp(-0.01 * k) - 4; };
  const LossCurve one(points_of(10, 10, sublinear));
  const LossCurve other(points_of(10, 10, exponential));
  EXPECT_NEAR(one.at(200), sublinear(200), 1e-3);
  EXPECT_NEAR(other.at(200), exponential(200), 1e-3);
  EXPECT_NEAR(one.drop(100, 200).expected, sublinear(100) - sublinear(200), 1e-3);
  EXPECT_EQ(one.drop(100, 100).expected, 0);
}

TEST(LossCurve, IsFlatWhereTheLossIs) {
  const LossCurve flat(points_of(5, 1, [](double) { return 0.5; }));
  EXPECT_NEAR(flat.drop(5, 100).most, 0, 1e-9);
}

// A loss that has begun to rise again is not expected to fall.
TEST(LossCurve, NeverExpectsARise) {
  const LossCurve risen(points_of(8, 1, [](double k) { return std::abs(k - 4); }));
  EXPECT_GE(risen.drop(8, 16).least, 0);
  EXPECT_LT(risen.drop(8, 16).expected, 0.5);
}

double gaussian(Rng& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * 3.14159265358979 * random.uniform());
}

// Curves 1 / (b0 k / 100 + 0.1 b1 + 0.5) + 0.01 b2, b uniform in [0, 1], with errors of 0.005.
TEST(LossCurve, KnowsHowSureItIs) {
  Rng random(17);
  int right = 0;
  int near = 0;
  const int rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    const double b0 = random.uniform();
    const double b1 = random.uniform();
    const double b2 = random.uniform();
    const auto loss = [&](double k) { return 1 / (b0 * k / 100 + 0.1 * b1 + 0.5) + 0.01 * b2; };
    const LossCurve curve(
        points_of(20, 5, [&](double k) { return loss(k) + 0.005 * gaussian(random); }));
    const double truth = loss(100) - loss(120);
    const LossDrop drop = curve.drop(100, 120);
    EXPECT_LE(drop.least, drop.expected);
    EXPECT_LE(drop.expected, drop.most);
    right += drop.least <= truth && truth <= drop.most ? 1 : 0;
    near += std::abs(curve.at(120) / loss(120) - 1) < 0.05 ? 1 : 0;
  }
  // 208 of 300: about as often as one standard deviation of all parameters would hold it.
  EXPECT_GT(right, rounds * 0.6);
  EXPECT_LT(right, rounds * 0.8) << "a wider range than need be";
  EXPECT_GT(near, rounds * 0.95) << "the loss 20 steps on is known to 5 %";
}

}  // namespace
}  // namespace almanac::elastic
