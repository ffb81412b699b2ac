// SPDX-License-Identifier: Apache-2.0
#include "energy/backtest.h"

#include <cmath>

#include "base/check.h"

namespace almanac::energy {
namespace {

double symmetric_percent(double forecast, double truth) {
  const double size = std::abs(forecast) + std::abs(truth);
  return size > 0 ? 200 * std::abs(forecast - truth) / size : 0;
}

void add_up(Backtest& test, std::size_t levels) {
  const auto count = static_cast<double>(test.outcomes.size());
  test.coverage.assign(levels, 0.0);
  for (std::size_t at = 0; at < test.outcomes.size(); ++at) {
    const Outcome& outcome = test.outcomes[at];
    test.smape += symmetric_percent(outcome.forecast, outcome.truth) / count;
    test.persistence_smape += symmetric_percent(outcome.persistence, outcome.truth) / count;
    test.mae += std::abs(outcome.forecast - outcome.truth) / count;
    test.persistence_mae += std::abs(outcome.persistence - outcome.truth) / count;
    for (std::size_t level = 0; level < levels; ++level) {
      if (outcome.truth <= test.quantiles[at][level]) test.coverage[level] += 1 / count;
    }
  }
}

}  // namespace

Backtest backtest(const std::vector<double>& values, Time from, const ForecastOptions& options,
                  const Table& known) {
  ALMANAC_CHECK(options.target == Target::value, "only values can be held against a series");
  Forecaster forecaster(options);
  std::vector<Forecast> made;
  made.reserve(values.size());
  Backtest test;
  for (std::size_t at = 0; at < values.size(); ++at) {
    forecaster.observe(values[at], options.known > 0 ? known.row(at) : std::span<const double>{});
    made.push_back(forecaster.forecast());
    if (at < options.horizon) continue;
    const Time when = options.start + options.step * static_cast<std::int64_t>(at);
    const std::size_t origin = at - options.horizon;
    if (when < from || std::isnan(values[at]) || std::isnan(values[origin])) continue;
    test.outcomes.push_back({.at = when,
                             .truth = values[at],
                             .forecast = made[origin].median,
                             .persistence = values[origin]});
    test.quantiles.push_back(std::move(made[origin].quantiles));
  }
  add_up(test, options.levels.size());
  return test;
}

}  // namespace almanac::energy
