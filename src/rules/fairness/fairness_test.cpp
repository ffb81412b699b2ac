// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rules/fairness/decayed_use.h"
#include "rules/fairness/dues.h"
#include "rules/fairness/shares.h"

namespace almanac::fairness {
namespace {

TEST(Judge, SaysWhatWouldHaveToChangeHands) {
  // Due 1/2, 1/4, 1/4; had 3/4, 1/4, 0.
  const Judgement judgement = judge(std::vector<Holding>{{6, 2}, {2, 1}, {0, 1}});
  EXPECT_DOUBLE_EQ(judgement.share_error, 0.25);
  EXPECT_EQ(judgement.worst, 2U);
  EXPECT_DOUBLE_EQ(judgement.worst_ratio, 0);
  EXPECT_DOUBLE_EQ(judgement.jain, 25.0 / (3 * 13));
}

TEST(Judge, IsContentWhereEachHasItsDue) {
  const Judgement judgement = judge(std::vector<Holding>{{20, 2}, {10, 1}});
  EXPECT_NEAR(judgement.share_error, 0, 1e-15);
  EXPECT_DOUBLE_EQ(judgement.worst_ratio, 1);
  EXPECT_DOUBLE_EQ(judgement.jain, 1);
}

TEST(Judge, HasNothingToSayOfNothing) {
  const Judgement none = judge({});
  EXPECT_EQ(none.worst, 0U);
  EXPECT_EQ(none.share_error, 0);
  EXPECT_TRUE(std::isnan(none.jain));
  EXPECT_EQ(judge(std::vector<Holding>{{0, 1}, {0, 1}}).worst_ratio, 1);
}

// What was had by one that had no fair share is all error.
TEST(Judge, CountsWhatWasNotDue) {
  const Judgement judgement = judge(std::vector<Holding>{{5, 0}, {5, 1}});
  EXPECT_DOUBLE_EQ(judgement.share_error, 0.5);
  EXPECT_EQ(judgement.worst, 1U);
}

TEST(FinishTimeRatio, SharesNoGpuBeforeEachJobHasOne) {
  EXPECT_DOUBLE_EQ(finish_time_ratio(100, 50, 4, 8), 2);
  EXPECT_DOUBLE_EQ(finish_time_ratio(100, 50, 16, 8), 1);
}

TEST(FairParts, GoUpToWhatIsAskedByWeight) {
  EXPECT_EQ(fair_parts({8, 8, 8}, {2, 1, 1}, 8), (std::vector<double>{4, 2, 2}));
  // What the second does not ask the others share, two to one.
  EXPECT_EQ(fair_parts({9, 2, 9}, {2, 1, 1}, 14), (std::vector<double>{8, 2, 4}));
  EXPECT_EQ(fair_parts({1, 2, 3}, {1, 1, 1}, 14), (std::vector<double>{1, 2, 3}));
  // An owner without a weight gets the rest.
  EXPECT_EQ(fair_parts({3, 6}, {1, 0}, 8), (std::vector<double>{3, 5}));
  EXPECT_EQ(fair_parts({9, 6}, {1, 0}, 8), (std::vector<double>{8, 0}));
}

TEST(BesideItsDue, IsSaidInWords) {
  EXPECT_EQ(beside_its_due({.used_gpu_s = 114, .fair_share_gpu_s = 100}),
            "got 14 % more than its fair share");
  EXPECT_EQ(beside_its_due({.used_gpu_s = 86, .fair_share_gpu_s = 100}),
            "got 14 % less than its fair share");
  EXPECT_EQ(beside_its_due({.used_gpu_s = 100.1, .fair_share_gpu_s = 100}), "got its fair share");
}

// One GPU for one half-life h counts h / ln 2 x (1 - 1/2) at its end, and half of that later.
TEST(DecayedUse, IsTheClosedForm) {
  DecayedUse use(100);
  use.add(1, 0, 100);
  EXPECT_DOUBLE_EQ(use.at(100), 50 / std::log(2.0));
  EXPECT_DOUBLE_EQ(use.at(200), 25 / std::log(2.0));
  DecayedUse all(std::numeric_limits<double>::infinity());
  all.add(2, 0, 30);
  EXPECT_DOUBLE_EQ(all.at(1e9), 60);
}

// What is told as an amount of a moment is forgotten from then on, also when it is told late.
TEST(DecayedUse, TakesWhatIsForgottenInPart) {
  DecayedUse use(100);
  use.add_amount(8, 100);
  EXPECT_DOUBLE_EQ(use.at(200), 4);
  use.add_amount(8, 0);
  EXPECT_DOUBLE_EQ(use.at(200), 4 + 2);
}

RC_GTEST_PROP(DecayedUse, DoesNotHangOnHowUseIsCutUpOrToldWhen, ()) {
  const double from = *rc::gen::inRange(0, 1000);
  const double cut = from + *rc::gen::inRange(0, 1000);
  const double until = cut + *rc::gen::inRange(0, 1000);
  const double half_life = *rc::gen::inRange(1, 5000);
  DecayedUse once(half_life);
  once.add(3, from, until);
  DecayedUse backwards(half_life);
  backwards.add(3, cut, until);
  backwards.add(3, from, cut);
  const double now = until + 10;
  RC_ASSERT(std::fabs(once.at(now) - backwards.at(now)) <= 1e-9 * (1 + once.at(now)));
}

}  // namespace
}  // namespace almanac::fairness
