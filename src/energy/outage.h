// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tells outages of the meter from a cluster that is idle: Philly's counts fall from 300 nodes to
/// none for some steps and come back as they were.
#pragma once

#include <cstddef>
#include <deque>

namespace almanac::energy {

/// Judges one value after another, by those before it.
class OutageFilter {
 public:
  /// `steps_a_day` is the window; an outage is believed for up to a week.
  explicit OutageFilter(std::size_t steps_a_day) : day_(steps_a_day) {}

  /// Whether `value` is missing (NaN), or below a tenth of nearly all of the day before (its 5th
  /// percentile), which was at least 100: so many do not fall
  /// idle at once. O(steps of a day) where it falls that low, else O(1).
  bool is_outage(double value);
  /// Steps of the outage that goes on, those without a value included; 0 = none does.
  std::size_t lasted() const { return lasted_; }

 private:
  std::size_t day_;
  std::size_t lasted_ = 0;
  std::deque<double> recent_;  // the last day's values that were measured
};

}  // namespace almanac::energy
