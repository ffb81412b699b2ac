// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replicas for a quantile of the forecast rate.
#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/registry.h"

namespace almanac::inference::scaler {
namespace {

/// The forecast for the next steps is the last rate, or, with a day of history, the rate of the
/// same time yesterday, plus the 0.9 quantile of its past errors (a conformal interval).
///
/// Source   split conformal prediction (Vovk et al. 2005), as in `energy` for nodes.
/// Differs  from the quantiles of `energy`: no learned model, because services have short
///          histories.
class Quantile final : public Scaler {
 public:
  explicit Quantile(const ScalerCase& told)
      : capacity_(told.replica_requests_per_s),
        ahead_(1 + static_cast<std::size_t>(std::ceil(told.cold_start / 1e6 / kStep))) {}

  int want(Micros, const Load& load) override {
    const double rate = static_cast<double>(load.arrived - arrived_) / kStep;
    arrived_ = load.arrived;
    if (forecasts_.size() >= ahead_)
      misses_.push_back(rate - forecasts_[forecasts_.size() - ahead_]);
    if (misses_.size() > kDay) misses_.erase(misses_.begin());
    rates_.push_back(rate);
    const double yesterday =
        rates_.size() + ahead_ > kDay ? rates_[rates_.size() + ahead_ - 1 - kDay] : 0;
    forecasts_.push_back(std::max(rate, yesterday));
    std::vector<double> misses = misses_;
    const double margin = misses.size() < kEnough ? 0.5 * rate : stats::quantile(misses, kPart);
    const double expected =
        forecasts_.back() + std::max(0.0, margin) + static_cast<double>(load.waiting) / kStep;
    return static_cast<int>(std::ceil(expected / capacity_ - 1e-9));
  }
  Micros period() const override { return kStep * 1e6; }

 private:
  static constexpr double kStep = 60, kPart = 0.9;
  static constexpr std::size_t kDay = 1440, kEnough = 10;

  double capacity_;
  std::size_t ahead_;  // steps until a replica that is asked for now is ready
  std::int64_t arrived_ = 0;
  std::vector<double> rates_, forecasts_, misses_;
};

}  // namespace

void register_quantile(Registry& registry) {
  registry.scalers.add(
      {.name = "quantile",
       .summary = "for the 0.9 quantile of the forecast rate",
       .source = "split conformal prediction",
       .make = {[](const ScalerCase& told) { return std::make_unique<Quantile>(told); }, true}});
}

}  // namespace almanac::inference::scaler
