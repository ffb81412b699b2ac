// SPDX-License-Identifier: Apache-2.0

/// \file
/// A signal of the host, such as the price of power or its carbon intensity, over the past day: all
/// that a policy knows about the next day.
///
/// Cost     O(h) per query with h values in a day
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "base/time.h"

namespace almanac::policy {

class PastSignal {
 public:
  /// `day` must be above 0.
  explicit PastSignal(Duration day) : day_(day) {}

  /// Records the value of the signal from now on; times never decrease.
  void hear(Time now, double value);
  /// Whether there was a value.
  bool has_value() const { return !heard_.empty(); }
  /// Returns the last value. Requires has_value().
  double value() const { return heard_.back().value; }
  /// Whether a whole day up to `now` is known; `now` must not be before the last value.
  bool knows_day(Time now) const { return has_value() && heard_.front().since <= now - day_; }
  /// Returns the values between two times of the past day, and how long each held.
  std::vector<std::pair<double, Duration>> pieces(Time from, Time to) const;
  /// Returns the expected mean between two times, `from` >= `now`, if every day repeats the past
  /// one and the current value lasts until the past day had its next change. Requires
  /// knows_day(now) and `to` > `from`.
  double expect(Time from, Time to, Time now) const;

 private:
  struct Heard {
    Time since{};
    double value = 0;
  };

  Duration day_;
  std::deque<Heard> heard_;  // over one day; the first may have begun earlier
};

}  // namespace almanac::policy
