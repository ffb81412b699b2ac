// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "rules/elastic/sweep/asha.h"
#include "rules/elastic/sweep/halving.h"
#include "rules/elastic/sweep/hyper_rungs.h"
#include "rules/elastic/sweep/hyperband.h"

namespace almanac::elastic {
namespace {

TEST(Asha, OneInThreeGoesOnFromEachRung) {
  // Nine trials, the worst first. A trial that is cut waits, and continues once it is among the
  // best third.
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

TEST(Halving, TheBestHalfGoesOnOnceAllAreThere) {
  Halving rungs({.reduction = 2, .grace = 10, .most = 60});  // rungs at 10, 20, 40
  for (TrialId trial = 0; trial < 5; ++trial) {
    EXPECT_EQ(rungs.report(trial, 5, 0), Verdict::go_on);
    EXPECT_EQ(rungs.report(trial, 10, static_cast<double>(trial)), Verdict::pause);
  }
  EXPECT_EQ(rungs.promote(), std::nullopt);
  rungs.settle();
  EXPECT_EQ(rungs.promote(), 4);
  EXPECT_EQ(rungs.promote(), 3);
  EXPECT_EQ(rungs.promote(), std::nullopt);
  EXPECT_EQ(rungs.report(5, 10, 9), Verdict::pause) << "it came too late";
  EXPECT_EQ(rungs.report(3, 20, 2), Verdict::pause);
  rungs.gone(4);
  rungs.settle();
  EXPECT_EQ(rungs.promote(), 3);
  EXPECT_EQ(rungs.report(3, 40, 2), Verdict::go_on) << "it is alone";
  EXPECT_EQ(rungs.report(3, 60, 2), Verdict::stop);
}

TEST(Halving, KnowsItsStagesBeforehand) {
  Halving rungs({.reduction = 2, .grace = 10, .most = 60});
  const auto stages = [&](int alive) {
    std::vector<std::pair<int, double>> made;
    for (const Stage& each : rungs.ahead(alive)) made.emplace_back(each.trials, each.steps);
    return made;
  };
  using Stages = std::vector<std::pair<int, double>>;
  EXPECT_EQ(stages(8), (Stages{{8, 10}, {4, 10}, {2, 20}, {1, 20}}));
  EXPECT_EQ(stages(3), (Stages{{3, 10}, {1, 50}})) << "the last one is compared no more";
  rungs.report(0, 10, 1);
  EXPECT_EQ(stages(8), (Stages{{7, 10}, {4, 10}, {2, 20}, {1, 20}}));
  for (TrialId trial = 1; trial < 4; ++trial) rungs.report(trial, 10, 0);
  rungs.settle();
  EXPECT_EQ(stages(4), (Stages{{2, 10}, {1, 40}}));
}

// Steps take 1, 3/4 and 5/8 s on 1, 2 and 4 GPUs: a second GPU makes a trial 4/3 times as fast.
const std::vector<double> kStep_s{0, 1, 0.75, std::numeric_limits<double>::infinity(), 0.625};

TEST(PlanStages, SpendsGpusWhereASecondCostsLeast) {
  const std::vector<Stage> stages{{.trials = 2, .steps = 40}, {.trials = 1, .steps = 20}};
  const auto gpus = [&](double left_s) {
    return plan_stages(stages, kStep_s, {.gpus = 4, .left_s = left_s}).gpus;
  };
  EXPECT_EQ(gpus(60), (std::vector{1, 1}));
  // A second GPU wins the last stage 5 s for 10 GPU-seconds, the first one 10 s for 40.
  EXPECT_EQ(gpus(55), (std::vector{1, 2}));
  EXPECT_EQ(gpus(54), (std::vector{1, 4})) << "7.5 s for 30, and 10 s for 40 would do too";
  EXPECT_EQ(gpus(50), (std::vector{2, 1}));
  EXPECT_EQ(gpus(45), (std::vector{2, 2}));
  EXPECT_EQ(gpus(10), (std::vector{2, 4})) << "there is none in time: the fastest";
  EXPECT_EQ(plan_stages(stages, kStep_s, {.gpus = 0, .left_s = 60}).gpus, std::vector<int>{});
}

TEST(PlanStages, UsesTheInstancesThatArePaidFor) {
  const std::vector<Stage> stages{{.trials = 2, .steps = 40}, {.trials = 1, .steps = 20}};
  const double never = std::numeric_limits<double>::infinity();
  // One instance of four GPUs: 30 s with two GPUs each, then 12.5 s with all four.
  const StagePlan one =
      plan_stages(stages, kStep_s, {.gpus = 4, .left_s = never, .instance_gpus = 4, .booted = 1});
  EXPECT_EQ(one.gpus, (std::vector{2, 4}));
  EXPECT_DOUBLE_EQ(one.seconds, 42.5);
  EXPECT_DOUBLE_EQ(one.gpu_seconds, 4 * 42.5);
  // Instances of one GPU cost what the trials use.
  EXPECT_EQ(plan_stages(stages, kStep_s, {.gpus = 4, .left_s = never, .instance_gpus = 1}).gpus,
            (std::vector{1, 1}));
}

TEST(PlanStages, AvoidsInstancesThatBootForTooLong) {
  // Two trials on two instances of one GPU take 40 s and cost 80. A third and a fourth instance
  // would save 10 s of that, and 2 more instances 5 s of the last stage.
  const std::vector<Stage> stages{{.trials = 2, .steps = 40}, {.trials = 1, .steps = 20}};
  const auto gpus = [&](double boot_s, double left_s) {
    return plan_stages(
               stages, kStep_s,
               {.gpus = 4, .left_s = left_s, .instance_gpus = 1, .boot_s = boot_s, .booted = 2})
        .gpus;
  };
  EXPECT_EQ(gpus(0, 50), (std::vector{2, 1})) << "30 + 20 s";
  EXPECT_EQ(gpus(6, 55), (std::vector{1, 2})) << "the last stage has both instances already";
  EXPECT_EQ(gpus(6, 52), (std::vector{2, 2})) << "6 + 30 + 15 s";
  EXPECT_EQ(gpus(20, 56), (std::vector{1, 2}));
}

TEST(PlanStages, EqualsASearchThroughAllPlans) {
  Rng random(23);
  int late = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<double> step_s{0};
    for (int gpus = 1; gpus <= 5; ++gpus) {
      step_s.push_back(std::pow(gpus, -random.uniform()));
      if (random.below(5) == 0) step_s.back() = std::numeric_limits<double>::infinity();
    }
    step_s[1] = 1;
    std::vector<Stage> stages(1 + random.below(4));
    int trials = 1 + static_cast<int>(random.below(12));
    for (Stage& stage : stages) {
      stage = {.trials = trials, .steps = 1 + 30 * random.uniform()};
      trials = std::max(1, trials / 2);
    }
    const StageTerms terms{.gpus = 1 + static_cast<int>(random.below(8)),
                           .restart_s = 5 * random.uniform(),
                           .left_s = 20 + 200 * random.uniform()};
    double least = std::numeric_limits<double>::infinity();
    double fastest = least;
    const std::function<void(std::size_t, double, double)> all = [&](std::size_t at, double s,
                                                                     double gpu_s) {
      if (at == stages.size()) {
        fastest = std::min(fastest, s);
        if (s <= terms.left_s) least = std::min(least, gpu_s);
        return;
      }
      for (int gpus = 1; gpus <= std::min(5, terms.gpus); ++gpus) {
        const double each = stages[at].steps * step_s[static_cast<std::size_t>(gpus)] +
                            (at > 0 ? terms.restart_s : 0);
        if (std::isinf(each)) continue;
        const double turns = std::ceil(1.0 * stages[at].trials / (terms.gpus / gpus));
        all(at + 1, s + turns * each, gpu_s + stages[at].trials * gpus * each);
      }
    };
    all(0, 0, 0);
    const StagePlan found = plan_stages(stages, step_s, terms);
    if (std::isinf(least)) {
      ++late;
      EXPECT_NEAR(found.seconds, fastest, 1e-6);
    } else {
      EXPECT_LE(found.seconds, terms.left_s);
      EXPECT_NEAR(found.gpu_seconds, least, 1e-6 * least);
    }
  }
  EXPECT_GT(late, 20);
  EXPECT_LT(late, 280);
}

}  // namespace
}  // namespace almanac::elastic
