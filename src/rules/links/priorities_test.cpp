// SPDX-License-Identifier: Apache-2.0
#include "rules/links/priorities.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::links {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// Crux, figure 11: both have 10 GPUs; one computes and sends for 2 s each, the other for 1 s.
constexpr Flow kLong{.period_ms = 4000, .sends_ms = 2000};
constexpr Flow kShort{.period_ms = 2000, .sends_ms = 1000};

Flow first(Flow flow) {
  flow.priority = 1;
  return flow;
}

TEST(Priorities, TheLinkIsSentInTheOrderOfFigure11) {
  // In 12 s the link sends 6 s of the long job and 3 s of the short one if the long one goes first:
  // one transfer of 1 s in every 4 s. If the short one goes first, 4 s and 6 s: the long transfer
  // takes two gaps of 1 s, and with 2 s of computation 6 s a step.
  EXPECT_THAT(stretches(std::vector{first(kLong), kShort}, 10),
              ElementsAre(DoubleNear(1, 1e-9), DoubleNear(2, 0.02)));
  EXPECT_THAT(stretches(std::vector{kLong, first(kShort)}, 10),
              ElementsAre(DoubleNear(1.5, 0.02), DoubleNear(1, 1e-9)));
}

TEST(Priorities, TheShorterStepOfFigure11CountsOneAndAHalfTimes) {
  EXPECT_DOUBLE_EQ(gpu_intensity(kLong, 10), gpu_intensity(kShort, 10));
  EXPECT_NEAR(correction(kShort, kLong, 10), 1.5, 0.05);
  EXPECT_NEAR(correction(kLong, kShort, 10), 1 / 1.5, 0.05);
}

TEST(Priorities, JobsThatDoNotMeetNeedNoCorrection) {
  const Flow half{.period_ms = 20, .sends_ms = 10, .gbps = 5};
  EXPECT_EQ(correction(half, half, 10), 1);
}

TEST(Priorities, ThreePrioritiesAreServedInTurn) {
  // All compute 1 s and send 1 s. The first is never slowed, and the second falls into its gaps.
  // Both then keep the link busy, and the third makes no step.
  Flow top = kShort;
  top.priority = 2;
  const auto told = stretches(std::vector{kShort, first(kShort), top}, 10);
  EXPECT_NEAR(told[2], 1, 1e-9);
  EXPECT_NEAR(told[1], 1, 0.05);
  EXPECT_GT(told[0], 10);
}

TEST(Priorities, EqualPrioritiesShareWhatHigherOnesLeave) {
  // 4 of 10 Gb/s are left all the time for two that would send 4 each all the time.
  const Flow always{.period_ms = 10, .sends_ms = 10, .gbps = 6, .priority = 1};
  const Flow low{.period_ms = 10, .sends_ms = 10, .gbps = 4};
  EXPECT_THAT(stretches(std::vector{low, always, low}, 10),
              ElementsAre(DoubleNear(2, 1e-6), DoubleNear(1, 1e-9), DoubleNear(2, 1e-6)));
}

TEST(Priorities, JobsThatShareNoLinkMayShareALevel) {
  // Crux, figure 13: jobs 1 and 2 share a link, and 3 and 4 another.
  Contention weights(4, std::vector<double>(4, 0));
  weights[0][1] = 4;
  weights[2][3] = 2;
  EXPECT_EQ(lost_within(weights, levels_of(weights, 2)), 0);
  // One level holds all.
  EXPECT_THAT(levels_of(weights, 1), ElementsAre(0, 0, 0, 0));
}

TEST(Priorities, TheWeakestContentionIsLeftInALevel) {
  // All share one link. Levels {1}, {2}, {3, 4} lose the 2 of job 3; any other more.
  Contention weights(4, std::vector<double>(4, 0));
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) weights[a][b] = 8.0 / std::pow(2.0, a);
  }
  EXPECT_THAT(levels_of(weights, 3), ElementsAre(0, 1, 2, 2));
}

/// The least loss of all levels in which no job goes behind one that it precedes.
double least_loss(const Contention& weights, int levels) {
  const std::size_t jobs = weights.size();
  double least = 1e300;
  std::vector<int> tried(jobs, 0);
  for (;;) {
    bool valid = true;
    for (std::size_t a = 0; a < jobs; ++a) {
      for (std::size_t b = a + 1; b < jobs; ++b) {
        valid = valid && (weights[a][b] == 0 || tried[a] <= tried[b]);
      }
    }
    if (valid) least = std::min(least, lost_within(weights, tried));
    std::size_t at = 0;
    while (at < jobs && ++tried[at] == levels) tried[at++] = 0;
    if (at == jobs) return least;
  }
}

RC_GTEST_PROP(PrioritiesProperty, LevelsAreValidAndTheBestOfAll, ()) {
  const auto jobs = static_cast<std::size_t>(*rc::gen::inRange(1, 7));
  const int levels = *rc::gen::inRange(1, 4);
  const bool all_share = *rc::gen::arbitrary<bool>();
  Contention weights(jobs, std::vector<double>(jobs, 0));
  for (std::size_t a = 0; a < jobs; ++a) {
    const double intensity = *rc::gen::inRange(1, 20);
    for (std::size_t b = a + 1; b < jobs; ++b) {
      const bool shares = all_share || b == a + 1 || *rc::gen::arbitrary<bool>();
      weights[a][b] = shares ? intensity : 0;
    }
  }
  const std::vector<int> made = levels_of(weights, levels);
  for (std::size_t a = 0; a < jobs; ++a) {
    RC_ASSERT(made[a] >= 0 && made[a] < levels);
    for (std::size_t b = a + 1; b < jobs; ++b) RC_ASSERT(weights[a][b] == 0 || made[a] <= made[b]);
  }
  RC_ASSERT(std::abs(lost_within(weights, made) - least_loss(weights, levels)) < 1e-9);
}

}  // namespace
}  // namespace almanac::links
