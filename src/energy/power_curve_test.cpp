// SPDX-License-Identifier: Apache-2.0
#include "energy/power_curve.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::energy {
namespace {

PowerCurve any_curve() {
  const double idle = *rc::gen::inRange(0, 40) / 100.0;
  return {.idle = idle,
          .full = idle + (1 - idle) * *rc::gen::inRange(10, 101) / 100.0,
          .bend = *rc::gen::inRange(5, 200) / 10.0,
          .strain = *rc::gen::inRange(10, 50) / 10.0};
}

/// 0 ... 1, for a limit above idle.
double any_share() { return *rc::gen::inRange(0, 1001) / 1000.0; }

double any_limit(const PowerCurve& curve) {
  return curve.idle + (1 - curve.idle) * (0.05 + 0.95 * any_share());
}

RC_GTEST_PROP(PowerCurve, RisesWithUseAndLimit, ()) {
  const PowerCurve curve = any_curve();
  const double use = any_share();
  const double more_use = use + (1 - use) * any_share();
  const double limit = any_limit(curve);
  const double more = limit + (1 - limit) * any_share();
  constexpr double kRounding = 1e-9;
  RC_ASSERT(curve.draw(use, limit) <= curve.draw(more_use, limit) + kRounding);
  RC_ASSERT(curve.draw(use, limit) <= curve.draw(use, more) + kRounding);
  RC_ASSERT(curve.speed(use, limit) <= curve.speed(use, more) + kRounding);
}

RC_GTEST_PROP(PowerCurve, KeepsItsBounds, ()) {
  const PowerCurve curve = any_curve();
  const double use = any_share();
  const double limit = any_limit(curve);
  const double draw = curve.draw(use, limit);
  constexpr double kRounding = 1e-9;
  RC_ASSERT(draw >= curve.idle - kRounding);
  RC_ASSERT(draw <= limit + kRounding);
  RC_ASSERT(draw <= curve.draw(use, 1) + kRounding);
  RC_ASSERT(curve.speed(use, limit) >= 0);
  RC_ASSERT(curve.speed(use, limit) <= 1);
}

RC_GTEST_PROP(PowerCurve, IsLinearInUseWithoutALimit, ()) {
  const PowerCurve curve = any_curve();
  const double use = any_share();
  const double draw = curve.draw(use, 1);
  RC_ASSERT(std::abs(draw - (curve.idle + use * (curve.full - curve.idle))) < 1e-12);
  RC_ASSERT(std::abs(curve.use_of(draw) - use) < 1e-9);
  RC_ASSERT(curve.speed(use, 1) == 1);
}

TEST(PowerCurve, AnIdleGpuKnowsNoLimit) {
  const PowerCurve curve{.idle = 0.2, .full = 0.9, .bend = 2, .strain = 2};
  EXPECT_EQ(curve.draw(0, 0.3), 0.2);
  EXPECT_EQ(curve.speed(0, 0.3), 1);
}

TEST(PowerCurve, UseIsCutToWhatThereIs) {
  const PowerCurve curve{.idle = 0.2, .full = 0.8};
  EXPECT_EQ(curve.use_of(0.1), 0);
  EXPECT_DOUBLE_EQ(curve.use_of(0.5), 0.5);
  EXPECT_EQ(curve.use_of(0.9), 1);
}

}  // namespace
}  // namespace almanac::energy
