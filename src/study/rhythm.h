// SPDX-License-Identifier: Apache-2.0

/// \file
/// A quantity by the hour of the day, and whether its course repeats from day to day.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace almanac::study {

/// Values of the minutes of a log, by hour of the day (the clock of the log).
class DailyRhythm {
 public:
  static constexpr std::size_t kHours = 24;

  /// Adds a value for this many minutes of an hour. `minute` counts from the epoch, which starts at
  /// midnight.
  void add(std::int64_t minute, double value, double minutes = 1);

  /// Returns the mean over all days; NaN for an hour without any minute in the log.
  double mean(std::size_t hour) const;
  /// Over all minutes, not over hours: a log of four hours has the mean of these four.
  double mean() const;
  /// Whether the daily pattern is reliable: the log covers seven days and every hour, and the hours
  /// of odd and even days correlate by at least 0.5 (by chance, for 24 hours, one in a hundred).
  bool repeats() const;

 private:
  struct Sum {
    double total = 0;
    double minutes = 0;
    double mean() const;
  };
  std::array<std::array<Sum, kHours>, 2> sums_{};  // of even and of odd days
};

}  // namespace almanac::study
