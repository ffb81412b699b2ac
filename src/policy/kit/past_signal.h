// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a signal that the host tells, the price of power or its carbon, was over the past day: all
/// that a policy knows of the next one.
///
/// Cost     O(h) a question with h values in a day.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "base/time.h"

namespace almanac::policy {

class PastSignal {
 public:
  /// `day` above 0.
  explicit PastSignal(Duration day) : day_(day) {}

  /// The signal has this value from now on; times never go back.
  void hear(Time now, double value);
  /// Whether a value has been heard.
  bool has_value() const { return !heard_.empty(); }
  /// The last value heard; has_value() must hold.
  double value() const { return heard_.back().value; }
  /// Whether a whole day up to `now`, not before the last value, has been heard.
  bool knows_day(Time now) const { return has_value() && heard_.front().since <= now - day_; }
  /// The values from one time to another, of the past day, and for how long each held.
  std::vector<std::pair<double, Duration>> pieces(Time from, Time to) const;
  /// The mean that is expected from one time to another, not before `now`, if all days are as the
  /// past one was, and what the signal is now lasts until the past day had its next change;
  /// knows_day(now) must hold, and `to` be after `from`.
  double expect(Time from, Time to, Time now) const;

 private:
  struct Heard {
    Time since{};
    double value = 0;
  };

  Duration day_;
  std::deque<Heard> heard_;  // of a day; the first may have begun before it
};

}  // namespace almanac::policy
