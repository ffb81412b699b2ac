// SPDX-License-Identifier: Apache-2.0
#include "profiling/step_rate.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rng.h"

namespace almanac::profiling {
namespace {

TEST(StepRateTest, ByHand) {
  // After one slow step, ten of 1 s and ten of 3 s in turns: 2 s a step.
  std::vector<Interval> intervals{{30, 1}};
  for (int i = 0; i < 10; ++i) {
    intervals.push_back({1, 1});
    intervals.push_back({3, 1});
  }
  const auto rate = step_rate(intervals);
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->warm_up, 1);
  EXPECT_EQ(rate->step_s, 2);
  EXPECT_EQ(rate->steps, 20);
  EXPECT_EQ(rate->seconds, 40);
  // 20 batches of one step: deviations of 1 s each, so an error of sqrt(20 / (20 * 19)), times
  // t(19) = 2.093, over 2 s. In batches of two steps nothing differs.
  EXPECT_NEAR(rate->half_width, 2.093 * std::sqrt(1.0 / 19) / 2, 1e-4);
}

TEST(StepRateTest, LeavesOutAWarmUp) {
  std::vector<Interval> intervals;
  for (int i = 0; i < 15; ++i) intervals.push_back({2 - i * 0.1, 1});  // from 2 s down to 0.6 s
  for (int i = 0; i < 60; ++i) intervals.push_back({i % 2 == 0 ? 0.49 : 0.51, 1});
  const auto rate = step_rate(intervals);
  ASSERT_TRUE(rate);
  EXPECT_GE(rate->warm_up, 14);
  EXPECT_NEAR(rate->step_s, 0.5, 0.005);
  EXPECT_TRUE(rate->settled);
}

TEST(StepRateTest, LinesOfSeveralStepsWeighAsMany) {
  std::vector<Interval> intervals{{1, 1}};
  for (int i = 0; i < 30; ++i) {
    intervals.push_back({0.1, 1});
    intervals.push_back({0.9, 9});
  }
  EXPECT_NEAR(step_rate(intervals)->step_s, 0.1, 1e-12);
  EXPECT_NEAR(step_rate(intervals)->half_width, 0, 1e-9);
}

TEST(StepRateTest, TooFewTellNothing) {
  EXPECT_FALSE(step_rate({}));
  EXPECT_FALSE(step_rate(std::vector<Interval>{{1, 1}, {1, 1}}));
  // Two after the first one: an interval, but a wide one.
  EXPECT_GT(step_rate(std::vector<Interval>{{1, 1}, {1, 1}, {1.1, 1}})->half_width, 0.1);
}

TEST(StopperTest, StopsSoonWhereNothingVaries) {
  Stopper stopper({});
  std::vector<Interval> intervals;
  while (!stopper.enough(intervals)) intervals.push_back({0.1, 1});
  EXPECT_LE(intervals.size(), 30);
}

TEST(StopperTest, DoesNotStopWhileItStillGetsFaster) {
  Stopper stopper({});
  std::vector<Interval> intervals;
  for (int i = 0; i < 400; ++i) {
    intervals.push_back({std::pow(0.99, i), 1});
    EXPECT_FALSE(stopper.enough(intervals)) << i;
  }
}

/// A stream of step times with mean 1.
using Noise = std::function<double(Rng&)>;

struct Trials {
  double covered = 0;   ///< Share of intervals that held the truth.
  double off_by_5 = 0;  ///< Share of means that were more than 5 % off.
  double steps = 0;     ///< Mean number until it was enough.
};

Trials try_out(const std::function<Noise()>& make, int times) {
  Trials trials;
  for (int at = 0; at < times; ++at) {
    Rng rng(7, static_cast<std::uint64_t>(at));
    const Noise noise = make();
    Stopper stopper({.least_s = 0});
    std::vector<Interval> intervals{{5, 1}};  // the first step compiles
    while (!stopper.enough(intervals) && intervals.size() < 20000) {
      intervals.push_back({noise(rng), 1});
    }
    const auto rate = step_rate(intervals);
    trials.covered += std::abs(rate->step_s - 1) <= rate->half_width * rate->step_s ? 1.0 : 0.0;
    trials.off_by_5 += std::abs(rate->step_s - 1) > 0.05 ? 1.0 : 0.0;
    trials.steps += static_cast<double>(intervals.size());
  }
  trials.covered /= times;
  trials.off_by_5 /= times;
  trials.steps /= times;
  return trials;
}

Noise log_normal(double sigma) {
  return [sigma](Rng& rng) { return std::exp(sigma * rng.normal() - sigma * sigma / 2); };
}

/// Neighboring steps are alike: an autoregression of order one.
Noise alike(double share, double sigma) {
  return [share, sigma, state = 0.0](Rng& rng) mutable {
    state = share * state + std::sqrt(1 - share * share) * rng.normal();
    return 1 + sigma * state;
  };
}

/// Every twentieth step writes a checkpoint and takes three times as long.
Noise with_stalls() {
  return [at = 0](Rng& rng) mutable {
    const double one = 1 + 0.03 * rng.normal();
    return (++at % 20 == 0 ? 3 * one : one) / 1.1;
  };
}

// A 95 % interval that is looked at until it is narrow holds the truth a little less often. Each
// bound is three standard errors of 400 trials (0.011 at 0.95) below 0.95, and for what
// neighboring steps share, below 0.9: what the method promises, not what this seed gave.
TEST(StopperTest, IntervalsHoldTheTruth) {
  const auto check = [](const char* what, const std::function<Noise()>& make, double least) {
    const Trials trials = try_out(make, 400);
    EXPECT_GE(trials.covered, least) << what << " after " << trials.steps << " steps";
    EXPECT_LE(trials.off_by_5, 0.02) << what;
  };
  check(
      "little", [] { return log_normal(0.02); }, 0.917);
  check(
      "some", [] { return log_normal(0.1); }, 0.917);
  check(
      "much", [] { return log_normal(0.5); }, 0.917);
  check(
      "alike", [] { return alike(0.5, 0.1); }, 0.855);
  check(
      "very alike", [] { return alike(0.8, 0.1); }, 0.855);
  check(
      "stalls", [] { return with_stalls(); }, 0.855);
}

RC_GTEST_PROP(StepRateTest, DoesNotHangOnTheUnitOfTime, ()) {
  const auto times =
      *rc::gen::suchThat(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000)),
                         [](const auto& made) { return made.size() >= 3; });
  std::vector<Interval> seconds;
  std::vector<Interval> others;
  for (const int time : times) {
    seconds.push_back({time / 1024.0, 1});  // exact, so that ties stay ties
    others.push_back({static_cast<double>(time), 1});
  }
  const auto a = step_rate(seconds);
  const auto b = step_rate(others);
  RC_ASSERT(a->warm_up == b->warm_up);
  RC_ASSERT(std::abs(a->step_s * 1024 - b->step_s) <= 1e-9 * b->step_s);
}

}  // namespace
}  // namespace almanac::profiling
