// SPDX-License-Identifier: Apache-2.0

/// \file
/// Features of the past of a series that predict its next hours, as inputs of a linear model.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "energy/calendar.h"

namespace almanac::energy {

/// The values of a series until now, with means of any stretch in O(1).
class History {
 public:
  void add(double value);
  std::size_t size() const { return values_.size(); }
  const std::vector<double>& values() const { return values_; }
  double operator[](std::size_t at) const { return values_[at]; }
  double newest() const { return values_.back(); }
  /// The mean of `count` values up to and with `last`; of fewer at the beginning.
  double mean(std::size_t last, std::size_t count) const;

 private:
  std::vector<double> values_;
  std::vector<double> sums_ = {0.0};  // sums_[i] = of values_[0 .. i)
};

/// The moment that features are of: the newest value of a history.
struct Moment {
  Time at{};  ///< Of the latest value.
  Duration step{};
  std::size_t day = 144;     ///< Steps of a day.
  std::size_t horizon = 18;  ///< Steps to what is forecast.
};

/// Relative to the newest value: lags, means and extremes of the past hours and days, what followed
/// at this time of earlier days and how high it was then (smoothed over an hour: of the past 3, 7
/// and 14 days, and of days alike), the time of day and days off.
///
/// Cost: O(days) and the steps of a day.
std::vector<double> features(const History& history, const Moment& moment,
                             const Calendar& calendar);

}  // namespace almanac::energy
