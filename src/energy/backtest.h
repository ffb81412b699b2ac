// SPDX-License-Identifier: Apache-2.0

/// \file
/// How good forecasts would have been: a series told step by step, each forecast held against what
/// came.
#pragma once

#include <cstddef>
#include <vector>

#include "energy/forecaster.h"
#include "energy/series.h"

namespace almanac::energy {

/// One forecast and what came; quantiles lie in Backtest::quantiles.
struct Outcome {
  Time at{};  ///< The time that was forecast.
  double truth = 0;
  double forecast = 0;
  double persistence = 0;  ///< What was measured `horizon` before.
};

struct Backtest {
  std::vector<Outcome> outcomes;
  std::vector<std::vector<double>> quantiles;  ///< Of each outcome.
  double smape = 0;              ///< Percent: 200 * mean(|f - t| / (|f| + |t|)), 0 / 0 = 0.
  double persistence_smape = 0;  ///< The same of persistence.
  double mae = 0;
  double persistence_mae = 0;
  std::vector<double> coverage;  ///< Of each level: how often the truth was not above its quantile.
};

/// Tells `values` from their beginning and scores the forecasts of steps at or after `from` that
/// were measured, as was the step `horizon` before. `known`, where it is not empty, has
/// options.known values for each step. Outages count as they were measured, for persistence and
/// forecast alike. options.target must be Target::value.
///
/// Source   SMAPE as in the Helios artifact (helios_philly.md, section 3.4).
Backtest backtest(const std::vector<double>& values, Time from, const ForecastOptions& options,
                  const Table& known = {});

}  // namespace almanac::energy
