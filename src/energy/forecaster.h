// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts how many nodes will be needed, with quantiles. It receives one value per step, so it
/// cannot use anything from the future.
///
/// The forecast is the latest value plus an expected change. The change is a mixture of "none"
/// (persistence) and of lines fitted to the least absolute error over lags, recent means and
/// extremes, the values that followed at this time on earlier days, and additional inputs of the
/// caller (job log). The mixture weights follow past performance, so a series that cannot be
/// forecast gets the forecast of persistence; if the mixture has been worse, persistence alone
/// answers. For an hour, an outage of the meter is expected to end by the forecast time; after
/// that, to continue. Quantiles come from past errors, scaled by the volatility of the series, and
/// are kept at their level (Gibbs & Candes, NeurIPS'21).
///
/// Differs from the Helios artifact, whose lags reach into the future of the decision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "energy/calendar.h"
#include "energy/features.h"
#include "energy/outage.h"
#include "energy/regression.h"

namespace almanac::energy {

/// What to forecast.
enum class Target : std::uint8_t {
  value,  ///< At `horizon` from now.
  mean,   ///< Of the steps until then.
  peak,   ///< The greatest of the steps until then.
};

struct ForecastOptions {
  Time start{};
  Duration step = 10min;
  std::size_t horizon = 18;  ///< Steps; at least 1.
  Target target = Target::value;
  std::vector<double> levels = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95};
  Calendar calendar{};
  std::size_t known = 0;  ///< Values that come with each observation; see observe().
};

struct Forecast {
  double median = 0;
  std::vector<double> quantiles;  ///< One per level, non-decreasing, never negative.
};

class Forecaster {
 public:
  explicit Forecaster(ForecastOptions options);

  /// Adds the demand of the next step; NaN or an outage (outage.h) counts as not measured. `known`
  /// are further values of this time that predict the future, such as the change expected from the
  /// predicted ends of running jobs, in nodes.
  void observe(double value, std::span<const double> known = {});
  /// The forecast at the newest observation, which there must be. O(1) between observations.
  const Forecast& forecast() const { return forecast_; }

 private:
  struct Pending {
    std::vector<double> changes;  // expected by each expert
    double centre = 0;
    double scale = 1;
    std::vector<double> quantiles;
  };

  void add_features(std::span<const double> known);
  void learn();
  void refit();
  void predict();
  double restlessness() const;
  std::vector<double> quantiles(const Pending& made) const;
  double target_of(std::size_t origin) const;
  void accept_outage();
  bool is_known(std::size_t origin) const;
  double loss(double expected, double truth) const;
  double mixed(const std::vector<double>& changes) const;

  ForecastOptions options_;
  std::size_t day_;
  OutageFilter filter_;
  bool whole_ = true;              // every value so far; then forecasts are whole too
  History history_;                // outages hold the value before
  double measured_ = 0;            // the newest value that was measured, outage or not
  std::vector<double> moves_;      // running sums of |change over the horizon|
  std::vector<std::uint8_t> out_;  // outages
  Table features_;
  std::vector<Line> lines_;
  std::vector<Pending> pending_;  // by origin
  std::vector<double> losses_;    // of each expert, older ones fading
  double mixture_loss_ = 0;       // of what was measured, outages too
  std::vector<double> errors_;    // in units of their scale, newest last
  std::vector<double> shifts_;    // added to each level to keep its coverage
  Forecast forecast_;
};

}  // namespace almanac::energy
