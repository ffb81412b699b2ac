// SPDX-License-Identifier: Apache-2.0
#include "formulas/link_score.h"

#include <array>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rules/links/contention.h"

namespace almanac::links {
namespace {

const Sender kHalf{10, {{0, 5, 50}}};

TEST(LinkScore, CountsDemandBeyondTheCapacity) {
  const std::array two{kHalf, kHalf};
  // 50 Gb/s too many for half of the time.
  EXPECT_DOUBLE_EQ(link_score(two, std::array{0, 0}, 50), 0.5);
  EXPECT_DOUBLE_EQ(link_score(two, std::array{0, 5}, 50), 1);
  EXPECT_DOUBLE_EQ(link_score(two, std::array{0, 0}, 100), 1);
}

TEST(LinkScore, ShiftsJobsApart) {
  const std::array two{kHalf, kHalf};
  const Alignment best = align(two, 50);
  EXPECT_DOUBLE_EQ(best.score, 1);
  EXPECT_THAT(best.shifts_ms, testing::ElementsAre(0, 5));
}

TEST(LinkScore, TurnsUntilAllPeriodsMeet) {
  const std::array two{kHalf, Sender{4, {{0, 2, 50}}}};
  EXPECT_EQ(perimeter_ms(two), 20);
  EXPECT_LT(align(two, 50).score, 1);
}

constexpr double kCapacity = 10;

/// Up to `most` senders that compute, then send.
std::vector<Sender> draw_senders(int most) {
  std::vector<Sender> made;
  const int count = *rc::gen::inRange(1, most + 1);
  for (int at = 0; at < count; ++at) {
    const int period = *rc::gen::inRange(2, 12);
    const int sends = *rc::gen::inRange(1, period + 1);
    const double gbps = *rc::gen::inRange(1, 15);
    made.push_back({period, {{period - sends, period, gbps}}});
  }
  return made;
}

/// The same as the product's flows, of which 0 Gb/s means as fast as the link allows.
std::vector<Flow> flows_of(const std::vector<Sender>& senders) {
  std::vector<Flow> made;
  for (const auto& [period, phases] : senders) {
    made.push_back({.period_ms = double(period),
                    .sends_ms = double(phases[0].to_ms - phases[0].from_ms),
                    .gbps = phases[0].gbps == kCapacity ? 0 : phases[0].gbps});
  }
  return made;
}

RC_GTEST_PROP(LinkScoreProperty, ShiftedJobsLoseWhatTheScoreSays, ()) {
  const std::vector<Sender> senders = draw_senders(4);
  std::vector<Flow> flows = flows_of(senders);
  std::vector<int> shifts;
  for (std::size_t at = 0; at < flows.size(); ++at) {
    shifts.push_back(*rc::gen::inRange(0, senders[at].period_ms));
    flows[at].shift_ms = shifts.back();
  }
  // More steps in a common period count as drifting.
  std::int64_t steps = 0;
  for (const Sender& sender : senders) steps += perimeter_ms(senders) / sender.period_ms;
  RC_PRE(steps <= 512);
  const double score = link_score(senders, shifts, kCapacity);
  RC_ASSERT(std::abs(stretches(flows, kCapacity)[0] - (2 - score)) < 1e-6);
}

RC_GTEST_PROP(LinkScoreProperty, TwoJobsAreShiftedAsWellAsByTryingAll, ()) {
  const std::vector<Sender> senders = draw_senders(2);
  std::vector<Flow> flows = flows_of(senders);
  const auto shifts = best_shifts(flows, kCapacity);
  for (std::size_t at = 0; at < flows.size(); ++at) flows[at].shift_ms = shifts[at].value();
  const double best = align(senders, kCapacity).score;
  RC_ASSERT(std::abs(stretches(flows, kCapacity)[0] - (2 - best)) < 1e-6);
}

}  // namespace
}  // namespace almanac::links
