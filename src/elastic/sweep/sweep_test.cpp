// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "elastic/sweep/asha.h"
#include "elastic/sweep/hyper_rungs.h"
#include "elastic/sweep/hyperband.h"

namespace almanac::elastic {
namespace {

TEST(Asha, OneInThreeGoesOnFromEachRung) {
  // Nine trials, the worst first. A trial that is cut waits, and goes on once it is among the best
  // third.
  Asha rungs({.reduction = 3, .grace = 1, .most = 9});
  EXPECT_EQ(rungs.milestones(), (std::vector<double>{9, 3, 1}));
  std::vector<Verdict> verdicts;
  for (TrialId trial = 0; trial < 9; ++trial) {
    verdicts.push_back(rungs.report(trial, 1, static_cast<double>(trial)));
    if (trial < 2) {
      EXPECT_EQ(verdicts.back(), Verdict::pause) << "of two trials none is the best third";
    } else {
      EXPECT_EQ(verdicts.back(), Verdict::go_on) << "the best so far";
    }
  }
  EXPECT_EQ(rungs.counts(), (std::vector<std::size_t>{0, 0, 9}));
  for (const TrialId trial : {6, 7, 8}) rungs.report(trial, 3, static_cast<double>(trial));
  EXPECT_EQ(rungs.counts(), (std::vector<std::size_t>{0, 3, 9}));
  EXPECT_EQ(rungs.report(8, 9, 8), Verdict::stop);
  EXPECT_EQ(rungs.counts(), (std::vector<std::size_t>{1, 3, 9}));
  EXPECT_EQ(rungs.promote(), std::nullopt);
}

TEST(Asha, PromotesWhoEntersTheTopThird) {
  Asha rungs({.reduction = 3, .grace = 1, .most = 9});
  EXPECT_EQ(rungs.report(0, 1, 0.9), Verdict::pause);
  EXPECT_EQ(rungs.report(1, 1, 0.5), Verdict::pause);
  EXPECT_EQ(rungs.promote(), std::nullopt);
  EXPECT_EQ(rungs.report(2, 1, 0.1), Verdict::pause);
  EXPECT_EQ(rungs.promote(), 0);
  EXPECT_EQ(rungs.promote(), std::nullopt);
}

TEST(Asha, RungsEndWhereIterationsDo) {
  EXPECT_EQ(Asha({.reduction = 4, .grace = 1, .most = 100}).milestones(),
            (std::vector<double>{64, 16, 4, 1}));
  EXPECT_EQ(Asha({.reduction = 5, .grace = 1, .most = 125}).milestones(),
            (std::vector<double>{125, 25, 5, 1}));
}

TEST(HyperRungs, OneRungLiesBeyondTheMostIterations) {
  EXPECT_EQ(HyperRungs({.reduction = 2, .grace = 3, .most = 9}).milestones(),
            (std::vector<double>{12, 6, 3}));
}

TEST(HyperRungs, ATrialMayBeCutLaterByWhatOthersReach) {
  HyperRungs rungs({.reduction = 2, .grace = 1, .most = 4});
  EXPECT_EQ(rungs.report(0, 1, 0.5), Verdict::go_on);
  EXPECT_EQ(rungs.report(1, 1, 0.8), Verdict::go_on) << "two scores are needed for a cut-off";
  EXPECT_EQ(rungs.report(2, 1, 0.9), Verdict::go_on);
  // Half-way between 0.5, 0.8 and 0.9 lies 0.8.
  EXPECT_EQ(rungs.report(0, 1.5, 0.99), Verdict::pause) << "its first score at the rung stays";
  EXPECT_EQ(rungs.resumable(), std::vector<TrialId>{});
  rungs.report(3, 1, 0.1);
  rungs.report(4, 1, 0.2);
  EXPECT_EQ(rungs.resumable(), std::vector<TrialId>{0});
  rungs.resume(0);
  EXPECT_EQ(rungs.resumable(), std::vector<TrialId>{});
}

TEST(DealUnits, EachTrialHasOneBeforeAnyHasTwo) {
  const std::vector<double> scores{0.2, 0.9, 0.5};
  EXPECT_EQ(deal_units(scores, 2, Leftovers::uniform, 8), (std::vector{1, 1, 0}));
  EXPECT_EQ(deal_units(scores, 5, Leftovers::uniform, 8), (std::vector{1, 2, 2}));
  EXPECT_EQ(deal_units(scores, 9, Leftovers::uniform, 2), (std::vector{2, 2, 2}));
  EXPECT_EQ(deal_units(scores, 9, Leftovers::top, 2), (std::vector{1, 7, 1}));
  EXPECT_EQ(deal_units(scores, 9, Leftovers::none, 8), (std::vector{1, 1, 1}));
  EXPECT_EQ(deal_units(std::vector{0.0, 0.0}, 7, Leftovers::softmax, 8), (std::vector{4, 3}));
}

// Table 1 of the paper, with R = 81 and eta = 3.
TEST(Hyperband, HasTheBracketsOfThePaper) {
  const Hyperband rungs({.reduction = 3, .grace = 1, .most = 81});
  EXPECT_EQ(rungs.sizes(), (std::vector<std::size_t>{81, 34, 15, 8, 5}));
  EXPECT_EQ(rungs.milestones(0), (std::vector<double>{1, 3, 9, 27}));
  EXPECT_EQ(rungs.milestones(2), (std::vector<double>{9, 27}));
  EXPECT_EQ(rungs.milestones(4), (std::vector<double>{}));
}

TEST(Hyperband, ABracketWaitsForAllOfItsTrials) {
  Hyperband rungs({.reduction = 3, .grace = 1, .most = 9});  // brackets of 9, 5 and 3
  for (TrialId trial = 0; trial < 9; ++trial) {
    EXPECT_EQ(rungs.promote(), std::nullopt);
    EXPECT_EQ(rungs.report(trial, 1, static_cast<double>(trial)), Verdict::pause);
  }
  EXPECT_EQ(rungs.promote(), 8);
  EXPECT_EQ(rungs.promote(), 7);
  EXPECT_EQ(rungs.promote(), 6);
  EXPECT_EQ(rungs.promote(), std::nullopt);
  EXPECT_EQ(rungs.report(9, 1, 0.0), Verdict::go_on) << "the next bracket's rung is at 3";
  EXPECT_EQ(rungs.report(6, 3, 9.0), Verdict::pause);
  EXPECT_EQ(rungs.report(7, 3, 5.0), Verdict::pause);
  rungs.gone(8);
  EXPECT_EQ(rungs.promote(), 6) << "of two the best goes on";
  EXPECT_EQ(rungs.promote(), std::nullopt);
  EXPECT_EQ(rungs.report(6, 5, 9.0), Verdict::go_on) << "no rung is left";
  EXPECT_EQ(rungs.report(6, 9, 9.0), Verdict::stop);
}

TEST(Hyperband, GoesOnWithThoseThatItHasWhenNoneIsToCome) {
  Hyperband rungs({.reduction = 3, .grace = 1, .most = 9});
  rungs.report(0, 1, 0.5);
  rungs.report(1, 1, 0.7);
  EXPECT_EQ(rungs.promote(), std::nullopt);
  rungs.settle();
  EXPECT_EQ(rungs.promote(), 1);
  EXPECT_EQ(rungs.promote(), std::nullopt);
}

}  // namespace
}  // namespace almanac::elastic
