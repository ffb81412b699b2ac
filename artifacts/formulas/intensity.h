// SPDX-License-Identifier: Apache-2.0

/// \file
/// How dirty power is over time, in whole steps of 5 s as GAIA counts them.
#pragma once

#include <cstdint>
#include <vector>

namespace almanac::carbon {

using Step = std::int64_t;
inline constexpr Step kStepsAnHour = 720;

/// Hourly values with NaN for those that are missing, which are put on the line between their
/// neighbours; at the ends the neighbour is taken. At least one value must be there.
void fill_gaps(std::vector<double>& hourly);

/// Grams of CO2 a kWh, constant within each hour.
class Intensity {
 public:
  /// One value an hour; at least one.
  explicit Intensity(std::vector<double> hourly);

  Step end() const { return kStepsAnHour * static_cast<Step>(hourly_.size()); }
  /// At `step`, 0 <= step < end().
  double at(Step step) const { return hourly_[static_cast<std::size_t>(step / kStepsAnHour)]; }
  /// Summed over the steps from `from` to before `until`, 0 <= from <= until. What lies behind the
  /// end is 0. O(1).
  double sum(Step from, Step until) const { return before(until) - before(from); }
  /// Grams of a watt that is drawn from `from` to before `until`.
  double grams_a_watt(Step from, Step until) const {
    return sum(from, until) / 1000 / static_cast<double>(kStepsAnHour);
  }

 private:
  double before(Step step) const;

  std::vector<double> hourly_;
  std::vector<double> sums_;  // before each hour
};

}  // namespace almanac::carbon
