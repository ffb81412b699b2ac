// SPDX-License-Identifier: Apache-2.0

/// \file
/// Derives the times between steps from lines of progress.
///
/// A counter that falls to half or less begins again (the next epoch); the time until then belongs
/// to no step. A line whose counter falls less comes from another process that lags behind, and is
/// ignored. Lines that come within 2 ms, because the program buffers its output, count as one. Bars
/// with another total (a download, a validation) are other series. The series with most intervals
/// is the training.
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
  /// `batch` converts samples to steps.
  explicit Meter(double batch) : batch_(batch) {}

  /// Adds a line that was read at `at_s`, by a clock that never goes back.
  void add(const Progress& progress, double at_s);

  /// Returns the intervals of the series that has most of them.
  std::span<const Interval> intervals() const;
  /// Returns the pattern of that series. Valid only if lines() > 0.
  std::size_t pattern() const;
  std::size_t lines() const { return lines_; }

 private:
  struct Series {
    std::vector<Interval> intervals{};
    bool begun = false;
    double since_s = 0;  ///< Begin of the current interval.
    double counter = 0;
    double steps = 0;  ///< Of the current interval.
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
