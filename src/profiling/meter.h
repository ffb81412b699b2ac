// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes times between steps of lines of progress, whatever else they say.
///
/// A counter that falls to half or less begins anew (the next epoch), and the time over that gap
/// belongs to no step; one that falls less is another process that lags, and is passed over. Lines
/// that come at once, since the program's output is buffered, count as one. Bars of other totals (a
/// download, a validation) are other series; the one with most lines is the training.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "profiling/progress.h"
#include "profiling/step_rate.h"

namespace almanac::profiling {

class Meter {
 public:
  /// `batch` turns samples into steps.
  explicit Meter(double batch) : batch_(batch) {}

  /// A line read `at_s`, in any clock that does not jump; times do not fall.
  void add(const Progress& progress, double at_s);

  /// The intervals of the series with most of them.
  std::span<const Interval> intervals() const;
  /// The pattern of that series; nothing has come yet if there is no line at all.
  std::size_t pattern() const;
  std::size_t lines() const { return lines_; }

 private:
  struct Series {
    std::vector<Interval> intervals{};
    bool begun = false;
    double since_s = 0;  ///< Where the interval in the making begins.
    double counter = 0;
    double steps = 0;  ///< Of the interval in the making.
  };
  using Key = std::pair<std::size_t, double>;

  void count(Series& series, double counter, double at_s);
  void rate(Series& series, double steps_a_second, double at_s);

  double batch_;
  std::size_t lines_ = 0;
  std::map<Key, Series> series_;
  Key best_{};
};

}  // namespace almanac::profiling
