// SPDX-License-Identifier: Apache-2.0
#include "predict/regret.h"

#include <gtest/gtest.h>

namespace almanac::predict {
namespace {

constexpr std::array<bool, kPredictors> kAll = {true, true, true};

/// Jobs of 100 and of 300 GPU seconds end in turn. `said` gives what each predictor said of the
/// small and of the large ones.
Regret after(int jobs, std::array<std::pair<float, float>, kPredictors> said) {
  Regret made;
  for (int at = 0; at < jobs; ++at) {
    const bool is_large = at % 2 == 1;
    Regret::Record job{.took = is_large ? 300.0F : 100.0F};
    for (std::size_t of = 0; of < kPredictors; ++of) {
      job.said[of] = is_large ? said[of].second : said[of].first;
    }
    made.add(job);
  }
  return made;
}

TEST(Regret, IsTheFractionOfGpuTimeAtStakeThatWrongOrdersLose) {
  // Limit is far off but right on the order, history sees no difference, learned has it reversed.
  const Regret regret = after(200, {{{1000, 2000}, {150, 150}, {300, 100}}});
  EXPECT_EQ(regret.of(Predictor::limit), 0);
  EXPECT_EQ(regret.of(Predictor::learned), 1);
  EXPECT_NEAR(regret.of(Predictor::history), 0.5, 1e-9) << "right by chance half the time";
}

TEST(Regret, WeighsAPairByItsDifferenceUpToTheMeanJob) {
  // A predictor that takes jobs of 1 s for longer than jobs of 2 s loses little; one that takes a
  // job of a month for the shortest does not outweigh everything else.
  Regret regret;
  for (int at = 0; at < 600; ++at) {
    const float took = at % 100 == 99 ? 1e7F : at % 3 == 0 ? 1 : at % 3 == 1 ? 2 : 1e4F;
    const float swapped = took == 1 ? 2 : took == 2 ? 1 : took;
    const float blind = took == 1e7F ? 0 : took;
    regret.add({.said = {swapped, blind, took}, .took = took});
  }
  EXPECT_EQ(regret.of(Predictor::learned), 0);
  EXPECT_LT(regret.of(Predictor::limit), 1e-3);
  EXPECT_GT(regret.of(Predictor::history), 0.1);
  EXPECT_LT(regret.of(Predictor::history), 0.9);
}

TEST(Regret, IsNotKnownFromAFewAnswers) {
  EXPECT_EQ(after(20, {{{1, 2}, {1, 2}, {1, 2}}}).of(Predictor::limit),
            std::numeric_limits<double>::infinity());
}

TEST(Regret, ForgetsWhatWasLongAgo) {
  Regret regret = after(2'000, {{{1, 2}, {1, 2}, {2, 1}}});
  const double before = regret.of(Predictor::learned);
  for (int at = 0; at < 2'000; ++at) {
    const float took = at % 2 == 1 ? 300 : 100;
    regret.add({.said = {took, took, took}, .took = took});
  }
  EXPECT_LT(regret.of(Predictor::learned), 0.05 * before);
}

TEST(Regret, ChoosesTheLeastOfThoseThatSpeak) {
  Regret regret = after(200, {{{150, 150}, {300, 100}, {1, 2}}});
  EXPECT_EQ(regret.choose(kAll), Predictor::learned);
  EXPECT_EQ(regret.choose({true, true, false}), Predictor::limit);
  EXPECT_EQ(regret.choose({false, true, false}), Predictor::history);
}

TEST(Regret, ChoosesTheLimitAndThenHistoryWhereNothingIsKnown) {
  Regret regret;
  EXPECT_EQ(regret.choose(kAll), Predictor::limit);
  EXPECT_EQ(regret.choose({false, true, true}), Predictor::history);
}

TEST(Regret, StaysWithOneThatIsHardlyWorse) {
  // Of 100 jobs of 300 GPU seconds, `limit` calls one more small than `learned` does.
  const auto add = [](Regret& regret, int limits_errors, int learneds_errors) {
    for (int at = 0; at < 200; ++at) {
      const bool is_large = at % 2 == 1;
      const auto said = [&](int errors) {
        return is_large && at / 2 < 100 - errors ? 300.0F : 100.0F;
      };
      regret.add({.said = {said(limits_errors), 1, said(learneds_errors)},
                  .took = is_large ? 300.0F : 100.0F});
    }
  };
  Regret regret;
  add(regret, 41, 40);
  EXPECT_GT(regret.of(Predictor::limit), regret.of(Predictor::learned));
  EXPECT_EQ(regret.choose(kAll), Predictor::limit);
  add(regret, 40, 0);
  EXPECT_EQ(regret.choose(kAll), Predictor::learned);
}

TEST(Regret, SkipsPairsOfWhichAPredictorDidNotSpeak) {
  const Regret regret = after(200, {{{1, 2}, {1, 2}, {Regret::kSilent, 2}}});
  EXPECT_EQ(regret.of(Predictor::learned), std::numeric_limits<double>::infinity())
      << "it spoke of large jobs only, which are all alike";
}

}  // namespace
}  // namespace almanac::predict
