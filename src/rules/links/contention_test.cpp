// SPDX-License-Identifier: Apache-2.0
#include "rules/links/contention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rules/links/turns.h"

namespace almanac::links {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// Computes for 10 ms, then sends for 10 ms as fast as the link allows.
constexpr Flow kHalf{.period_ms = 20, .sends_ms = 10};

Flow shifted(Flow flow, double by) {
  flow.shift_ms = by;
  return flow;
}

TEST(Contention, OneJobHasTheLinkForItself) {
  EXPECT_THAT(stretches(std::array{kHalf}, 10), ElementsAre(1));
}

TEST(Contention, AJobThatSendsMoreThanTheLinkCarriesTakesLonger) {
  // 40 Gb/s over 10: four times 10 ms, and 10 ms of computation.
  const Flow fast{.period_ms = 20, .sends_ms = 10, .gbps = 40};
  EXPECT_THAT(stretches(std::array{fast}, 10), ElementsAre(DoubleNear(2.5, 1e-9)));
}

TEST(Contention, ShiftedJobsHaveThePeriodOfTheLongerAndNotTheSum) {
  EXPECT_THAT(stretches(std::array{shifted(kHalf, 0), shifted(kHalf, 10)}, 10), ElementsAre(1, 1));
  // Both send at once: 10 ms of computation and two transfers.
  EXPECT_THAT(stretches(std::array{shifted(kHalf, 0), shifted(kHalf, 0)}, 10),
              ElementsAre(1.5, 1.5));
  // 15 and 15 of 20 ms: however they are shifted, both take 30 ms.
  const Flow most{.period_ms = 20, .sends_ms = 15};
  const std::array two{most, most};
  const auto shifts = best_shifts(two, 10);
  EXPECT_THAT(stretches(std::array{shifted(most, *shifts[0]), shifted(most, *shifts[1])}, 10),
              ElementsAre(1.5, 1.5));
}

TEST(Contention, JobsThatDriftLoseTheMeanOverAllShifts) {
  // Half of each one's transfer meets one of the other.
  EXPECT_THAT(stretches(std::array{kHalf, kHalf}, 10), ElementsAre(1.25, 1.25));
  // Half the link each is enough.
  const Flow slow{.period_ms = 20, .sends_ms = 10, .gbps = 5};
  EXPECT_THAT(stretches(std::array{slow, slow}, 10), ElementsAre(1, 1));
}

TEST(Contention, NoLinkCarriesMoreThanItsCapacity) {
  // Ten jobs send 100 ms in all: no period is shorter.
  const std::vector<Flow> ten(10, kHalf);
  for (const double each : stretches(ten, 10)) EXPECT_NEAR(each, 5, 1e-6);
}

TEST(Contention, JobsInTurnFallIntoStep) {
  Flow polite = kHalf;
  polite.in_turn = true;
  EXPECT_THAT(stretches(std::array{polite, polite}, 10),
              ElementsAre(DoubleNear(1, 1e-9), DoubleNear(1, 1e-9)));
  // Beside one that does not keep the rule there are no turns.
  EXPECT_THAT(stretches(std::array{polite, kHalf}, 10), ElementsAre(1.25, 1.25));
}

std::vector<Flow> draw_flows(int most) {
  std::vector<Flow> made;
  const int count = *rc::gen::inRange(1, most + 1);
  for (int at = 0; at < count; ++at) {
    const int period = *rc::gen::inRange(2, 12);
    const int gbps = *rc::gen::inRange(0, 15);
    made.push_back({.period_ms = double(period),
                    .sends_ms = double(*rc::gen::inRange(1, period + 1)),
                    .gbps = double(gbps)});
  }
  return made;
}

RC_GTEST_PROP(ContentionProperty, NobodyGainsAndNoLinkIsOverfull, ()) {
  std::vector<Flow> flows = draw_flows(6);
  for (Flow& flow : flows) {
    if (*rc::gen::inRange(0, 2) == 0) flow.shift_ms = *rc::gen::inRange(0, int(flow.period_ms));
  }
  const std::vector<double> factors = stretches(flows, 10);
  double sent = 0;
  for (std::size_t at = 0; at < flows.size(); ++at) {
    RC_ASSERT(factors[at] >= 1);
    const double gbps = flows[at].gbps > 0 ? flows[at].gbps : 10;
    sent += gbps * flows[at].sends_ms / flows[at].period_ms / factors[at];
  }
  RC_ASSERT(sent <= 10 * (1 + 1e-6));
}

/// The mean over all shifts against single transfers of jobs whose periods have no common multiple.
TEST(Contention, TheMeanOverShiftsIsWhatDriftingTransfersTake) {
  double worst = 0;
  for (const double sends : {10.0, 30.0, 60.0}) {
    for (const double period : {77.3, 101.9, 161.8}) {
      const std::array flows{Flow{.period_ms = 100, .sends_ms = sends},
                             Flow{.period_ms = period, .sends_ms = sends / 2}};
      const auto told = stretches(flows, 10);
      const auto played = played_stretches(flows, 10, false, 1000);
      for (std::size_t at = 0; at < 2; ++at) {
        worst = std::max(worst, std::abs(told[at] / played[at] - 1));
      }
    }
  }
  EXPECT_LT(worst, 0.05);
}

/// Of two transfers that come together at a link, of which one is under way: the sum of the times
/// at which both end is less where the second begins at once exactly where the rule lets it.
RC_GTEST_PROP(TurnsProperty, TheRuleIsTheShorterSum, ()) {
  const double left = *rc::gen::inRange(1, 1000);
  const double mine = *rc::gen::inRange(1, 1000);
  const double eta = *rc::gen::inRange(0, 4) / 4.0;
  // At once: each of both takes 2 + eta for what the shorter one has, and the rest is sent alone.
  const double shorter = std::min(left, mine);
  const double first = (2 + eta) * shorter;
  const double both_at_once = first + first + std::max(left, mine) - shorter;
  const double one_after_other = left + left + mine;
  const double gain = one_after_other - both_at_once;
  RC_PRE(std::abs(gain) > 1e-9 && mine < left);
  RC_ASSERT(may_overlap(mine, left, eta) == (gain > 0));
}

}  // namespace
}  // namespace almanac::links
