// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures how good forecasts would have been: replays a series step by step, and compares each
/// forecast with the outcome.
#pragma once

#include <cstddef>
#include <vector>

#include "energy/forecaster.h"
#include "energy/series.h"

namespace almanac::energy {

/// A forecast and its outcome; Backtest::quantiles has the quantiles.
struct Outcome {
  Time at{};  ///< The time that was forecast.
  double truth = 0;
  double forecast = 0;
  double persistence = 0;  ///< Value measured `horizon` earlier.
};

struct Backtest {
  std::vector<Outcome> outcomes;
  std::vector<std::vector<double>> quantiles;  ///< By outcome.
  double smape = 0;              ///< Percent: 200 * mean(|f - t| / (|f| + |t|)), 0 / 0 = 0.
  double persistence_smape = 0;  ///< Same for persistence.
  double mae = 0;
  double persistence_mae = 0;
  /// By level: how often the outcome was not above its quantile.
  std::vector<double> coverage;
};

/// Replays `values` from the start and scores the forecasts of steps from `from` on that were
/// measured, and whose value `horizon` earlier was too. `known`, if not empty, has options.known
/// values for each step. Outages count as measured, for persistence and forecast alike.
/// options.target must be Target::value.
///
/// Source   SMAPE as in the Helios artifact.
Backtest backtest(const std::vector<double>& values, Time from, const ForecastOptions& options,
                  const Table& known = {});

}  // namespace almanac::energy
