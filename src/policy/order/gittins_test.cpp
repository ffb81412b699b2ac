// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "policy/registry.h"

namespace almanac::policy {
namespace {

using predict::Distribution;

constexpr std::size_t kTenSeconds = 25;  // 10^1.00 to 10^1.04 s
constexpr std::size_t kTwelveSeconds = 27;
constexpr std::size_t kHour = 88;  // 10^3.52 to 10^3.56 s

/// Half of the jobs end in one cell, half in the other.
Distribution two_points(std::size_t a, std::size_t b) {
  Distribution made;
  made.add_cell(a, 0.5F);
  made.add_cell(b, 0.5F);
  return made;
}

class GittinsTest : public testing::Test {
 protected:
  Candidate job(const Distribution* likely, Duration attained = {}) {
    return {.job = JobId{0},
            .request = request_,
            .attained = attained,
            .worked = attained,
            .believed = 500s,
            .likely = likely};
  }

  trace::Request request_ = [] {
    trace::Request made;
    made.gpus = 4;
    return made;
  }();
  std::unique_ptr<Order> order_ = registry().orders.make("gittins");
};

TEST_F(GittinsTest, WeighsTheEarlyEndByItsChance) {
  const Distribution likely = two_points(kTenSeconds, kHour);
  // Running all for 10.5 s ends half of them: 10.5 / 0.5. Waiting for the rest costs far more.
  EXPECT_NEAR(order_->rank(job(&likely)), 4 * 2 * Distribution::middle_s(kTenSeconds), 1e-3);
}

TEST_F(GittinsTest, WaitsForBothWhenTheyAreNear) {
  const Distribution likely = two_points(kTenSeconds, kTwelveSeconds);
  const double mean_s =
      (Distribution::middle_s(kTenSeconds) + Distribution::middle_s(kTwelveSeconds)) / 2;
  EXPECT_NEAR(order_->rank(job(&likely)), 4 * mean_s, 1e-3);
}

TEST_F(GittinsTest, FallsBackWhenTheEarlyEndHasPassed) {
  const Distribution likely = two_points(kTenSeconds, kHour);
  // At 700 s only the long one is left. The step began at 10^2.8 s.
  const double left_s = Distribution::middle_s(kHour) - std::pow(10.0, 2.8);
  EXPECT_NEAR(order_->rank(job(&likely, 700s)), 4 * left_s, 0.1);
}

TEST_F(GittinsTest, JumpsWhereTheNextStepBegins) {
  const Distribution likely = two_points(kTenSeconds, kHour);
  EXPECT_NEAR(seconds(order_->jumps_after(job(&likely, 700s))), std::pow(10.0, 3.2) - 700, 0.01);
  // Steps are walked one by one, and never forever.
  Duration attained{};
  int jumps = 0;
  for (;; ++jumps) {
    const Duration jump = order_->jumps_after(job(&likely, attained));
    if (jump == kNoDuration) break;
    ASSERT_GT(jump, Duration{0});
    attained += jump;
  }
  EXPECT_EQ(jumps, 11);  // at 10^2.8, 10^3.2 ... 10^6.8 s
}

TEST_F(GittinsTest, TakesAPointForCertain) {
  EXPECT_EQ(order_->rank(job(nullptr, 100s)), 4 * 400);
  // It has outlived what was believed: as long again.
  EXPECT_EQ(order_->rank(job(nullptr, 700s)), 4 * 700);
  const Distribution likely = two_points(kTenSeconds, kHour);
  EXPECT_NEAR(order_->rank(job(&likely, 2h)), 4 * std::pow(10.0, 3.6), 0.1);
}

}  // namespace
}  // namespace almanac::policy
