// SPDX-License-Identifier: Apache-2.0

/// \file
/// Distinguishes outages of the meter from an idle cluster: Philly's counts fall from 300 nodes to
/// none for some steps and return unchanged.
#pragma once

#include <cstddef>
#include <deque>

namespace almanac::energy {

/// Judges values one after another, each by those before it.
class OutageFilter {
 public:
  /// `steps_a_day` is the window; an outage is believed for up to a week.
  explicit OutageFilter(std::size_t steps_a_day) : day_(steps_a_day) {}

  /// Whether `value` is missing (NaN), or below a tenth of nearly all of the previous day (its 5th
  /// percentile), provided that this was at least 100: 100 nodes do not become idle at once.
  /// O(steps per day) for such a low value, otherwise O(1).
  bool is_outage(double value);
  /// Steps of the current outage, including those without a value; 0 for none.
  std::size_t lasted() const { return lasted_; }

 private:
  std::size_t day_;
  std::size_t lasted_ = 0;
  std::deque<double> recent_;  // the last day's values that were measured
};

}  // namespace almanac::energy
