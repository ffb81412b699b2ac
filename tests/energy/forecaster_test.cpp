// SPDX-License-Identifier: Apache-2.0

/// \file
/// The forecaster on series whose structure is known.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "energy/backtest.h"

namespace almanac::energy {
namespace {

constexpr std::size_t kDay = 144;

std::vector<double> daily_wave(std::size_t steps, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> values;
  for (std::size_t at = 0; at < steps; ++at) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(at % kDay) / kDay;
    values.push_back(200 + 40 * std::sin(turn) + 3 * rng.normal());
  }
  return values;
}

std::vector<double> random_walk(std::size_t steps, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> values{500};
  while (values.size() < steps) values.push_back(values.back() + std::round(2 * rng.normal()));
  return values;
}

Time day(std::int64_t number) { return Time(24h * number); }

TEST(Forecaster, BeatsPersistenceOnADailyWaveByFar) {
  const Backtest test = backtest(daily_wave(28 * kDay, 1), day(14), {});
  EXPECT_EQ(test.outcomes.size(), 14 * kDay);
  EXPECT_LT(test.smape, 0.25 * test.persistence_smape);
}

TEST(Forecaster, IsPersistenceOnARandomWalkWithinNoise) {
  const Backtest test = backtest(random_walk(42 * kDay, 2), day(14), {});
  EXPECT_LT(test.smape, 1.02 * test.persistence_smape);
}

TEST(Forecaster, SaysThatWhatIsConstantStays) {
  const Backtest test = backtest(std::vector<double>(21 * kDay, 120), day(7), {});
  EXPECT_EQ(test.smape, 0);
  for (const auto& quantiles : test.quantiles) {
    for (const double quantile : quantiles) EXPECT_EQ(quantile, 120);
  }
}

TEST(Forecaster, FollowsATrend) {
  // Half a node a step: nine more three hours later.
  std::vector<double> values;
  for (std::size_t at = 0; at < 28 * kDay; ++at) {
    values.push_back(100 + std::floor(static_cast<double>(at) / 2));
  }
  const Backtest test = backtest(values, day(14), {});
  EXPECT_LT(test.smape, 0.2 * test.persistence_smape);
}

TEST(Forecaster, IsNotLostAfterAStep) {
  // Half of the cluster leaves for good at day 20.
  std::vector<double> values = daily_wave(30 * kDay, 8);
  for (std::size_t at = 20 * kDay; at < values.size(); ++at) values[at] /= 2;
  const Backtest test = backtest(values, day(21), {});
  EXPECT_LT(test.smape, test.persistence_smape);
}

TEST(Forecaster, CoversAsOftenAsItSays) {
  const ForecastOptions options;
  for (const auto& values : {daily_wave(70 * kDay, 3), random_walk(70 * kDay, 4)}) {
    const Backtest test = backtest(values, day(14), options);
    for (std::size_t at = 0; at < options.levels.size(); ++at) {
      EXPECT_NEAR(test.coverage[at], options.levels[at], 0.02) << options.levels[at];
    }
  }
}

TEST(Forecaster, DoesNotSeeWhatComes) {
  std::vector<double> values = daily_wave(20 * kDay, 5);
  const Backtest before = backtest(values, day(2), {});
  const std::size_t poisoned = 15 * kDay;
  for (std::size_t at = poisoned; at < values.size(); ++at) values[at] = 1e6;
  const Backtest after = backtest(values, day(2), {});
  const ForecastOptions options;
  ASSERT_EQ(before.outcomes.size(), after.outcomes.size());
  // Forecasts made before the poison: of times until `horizon` into it.
  for (std::size_t at = 0; at < before.outcomes.size(); ++at) {
    if (before.outcomes[at].at >= day(15) + options.step * 18) {
      EXPECT_NE(before.outcomes[at].forecast, after.outcomes[at].forecast);
      break;
    }
    ASSERT_EQ(before.outcomes[at].forecast, after.outcomes[at].forecast) << at;
    ASSERT_EQ(before.quantiles[at], after.quantiles[at]) << at;
  }
}

TEST(Forecaster, UsesWhatElseIsKnown) {
  const std::vector<double> values = random_walk(42 * kDay, 6);
  const ForecastOptions options{.known = 1};
  Table known{.width = 1, .cells = {}};
  Rng rng(7);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const std::size_t then = std::min(at + options.horizon, values.size() - 1);
    const double change = values[then] - values[at] + rng.normal();
    known.add(std::span(&change, 1));
  }
  const Backtest test = backtest(values, day(14), options, known);
  EXPECT_LT(test.smape, 0.5 * test.persistence_smape);
}

TEST(Forecaster, HoldsItsGroundInAnOutageOfTheMeter) {
  std::vector<double> values = daily_wave(20 * kDay, 8);
  for (std::size_t at = 0; at < 3; ++at) values[15 * kDay + at] = 0;
  Forecaster forecaster({});
  for (std::size_t at = 0; at < 15 * kDay + 2; ++at) forecaster.observe(values[at]);
  EXPECT_NEAR(forecaster.forecast().median, 200 + 40 * std::sin(2 * std::numbers::pi / 8), 15);
}

TEST(Forecaster, IsTheSameEveryTime) {
  const auto values = random_walk(20 * kDay, 9);
  const Backtest one = backtest(values, day(2), {});
  const Backtest other = backtest(values, day(2), {});
  EXPECT_EQ(one.smape, other.smape);
  EXPECT_EQ(one.quantiles, other.quantiles);
}

}  // namespace
}  // namespace almanac::energy
