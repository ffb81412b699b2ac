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

  /// `minute` counts from the epoch, which begins at midnight. The value is that of so many minutes
  /// of its hour.
  void add(std::int64_t minute, double value, double minutes = 1);

  /// Over all days; NaN for an hour of which the log has no minute.
  double mean(std::size_t hour) const;
  /// Over all minutes, not over hours: a log of four hours has the mean of these four.
  double mean() const;
  /// Whether the course of the day may be told: the log covers seven days, each hour is among them,
  /// and the hours of the odd days and of the even days go up and down together (a correlation of
  /// 0.5; of 24 hours by chance once in a hundred).
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
