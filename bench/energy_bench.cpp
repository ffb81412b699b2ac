// SPDX-License-Identifier: Apache-2.0

/// \file
/// What forecasts of demand and decisions about nodes cost, on a series of weeks in steps of 10
/// minutes.
#include <cmath>
#include <numbers>

#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "energy/standby.h"

namespace almanac::energy {
namespace {

constexpr std::size_t kDay = 144;

int demand_at(std::size_t step, Rng& rng) {
  const double turn = 2 * std::numbers::pi * static_cast<double>(step % kDay) / kDay;
  return static_cast<int>(300 + 60 * std::sin(turn) + 8 * rng.normal());
}

/// A step told and forecast, fits at midnight included; so many weeks were told before.
void forecast(benchmark::State& state) {
  Rng rng(1);
  Forecaster forecaster({});
  std::size_t step = 0;
  const auto weeks = static_cast<std::size_t>(state.range(0));
  for (; step < weeks * 7 * kDay; ++step) forecaster.observe(demand_at(step, rng));
  for (auto _ : state) {
    forecaster.observe(demand_at(step++, rng));
    benchmark::DoNotOptimize(forecaster.forecast());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(forecast)->Arg(1)->Arg(12)->Iterations(7 * kDay)->Unit(benchmark::kMicrosecond);

/// A line through 12 weeks of 45 features.
void fit(benchmark::State& state) {
  Rng rng(2);
  Table table{.width = 45, .cells = {}};
  std::vector<std::size_t> rows;
  std::vector<double> y;
  std::vector<double> row(table.width);
  for (std::size_t at = 0; at < 84 * kDay; ++at) {
    for (double& cell : row) cell = rng.normal();
    table.add(row);
    rows.push_back(at);
    y.push_back(row[0] + rng.normal());
  }
  const std::vector<double> weights(y.size(), 1.0);
  for (auto _ : state) benchmark::DoNotOptimize(fit_median(table, rows, y, weights, 0.1));
}
BENCHMARK(fit)->Iterations(3)->Unit(benchmark::kMillisecond);

/// All rules of standby over a step whose forecasts are at hand.
void decide(benchmark::State& state) {
  Rng rng(3);
  StandbyForecaster forecaster(Time{}, 10min);
  std::vector<Standby> known;
  for (std::size_t step = 0; step < 7 * kDay; ++step) {
    known.push_back(forecaster.observe(demand_at(step, rng), 400));
  }
  StandbyRules rules({}, 10min);
  std::size_t step = 0;
  for (auto _ : state) benchmark::DoNotOptimize(rules.decide(known[step++ % known.size()]));
}
BENCHMARK(decide);

}  // namespace
}  // namespace almanac::energy

BENCHMARK_MAIN();
