// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replicas for the rate that is predicted for the time at which new replicas are ready.
#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/registry.h"
#include "stats/line.h"

namespace almanac::inference::scaler {
namespace {

/// Source   Zhang et al., ATC'19 (MArk), section 4: steps of a minute, capacity for 1.2 times the
///          rate predicted for the time at which a replica requested now is ready.
/// Differs  A line through the last five minutes predicts the rate instead of an LSTM. Replicas are
///          of one type. Waiting requests are answered within a minute.
class Mark final : public Scaler {
 public:
  explicit Mark(const ScalerCase& told)
      : capacity_(told.replica_requests_per_s), ahead_s_(told.cold_start / 1e6) {}

  int want(Micros, const Load& load) override {
    rates_.push_back(static_cast<double>(load.arrived - arrived_) / kStep);
    arrived_ = load.arrived;
    if (rates_.size() > kKept) rates_.erase(rates_.begin());
    const double expected = kHeadroom * predicted() + static_cast<double>(load.waiting) / kStep;
    return static_cast<int>(std::ceil(expected / capacity_ - 1e-9));
  }
  Micros period() const override { return kStep * 1e6; }

 private:
  static constexpr double kStep = 60, kHeadroom = 1.2;
  static constexpr std::size_t kKept = 5;

  /// Returns the predicted rate per second, by least squares; at least that of the last step.
  double predicted() const {
    const double then = static_cast<double>(rates_.size()) - 1 + std::ceil(ahead_s_ / kStep);
    return std::max(rates_.back(), stats::line_at(rates_, then));
  }

  double capacity_;
  double ahead_s_;
  std::int64_t arrived_ = 0;
  std::vector<double> rates_;
};

}  // namespace

void register_mark(Registry& registry) {
  registry.scalers.add(
      {.name = "mark",
       .summary = "for the rate expected once new replicas are ready",
       .source = "Zhang et al. ATC'19 §4",
       .make = {[](const ScalerCase& told) { return std::make_unique<Mark>(told); }, true}});
}

}  // namespace almanac::inference::scaler
