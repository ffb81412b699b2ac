// SPDX-License-Identifier: Apache-2.0

/// \file
/// Limits the changes per second that the controller is asked for; fewer while it is slow.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace almanac::steer {

/// A token bucket that holds the tokens of two seconds; at first, of one second.
class Budget {
 public:
  explicit Budget(double changes_per_s) : most_(changes_per_s), rate_(changes_per_s) {}

  /// Changes allowed at `now`, a time that never goes back.
  std::int64_t left(Time now) {
    if (at_ == kNoTime) {
      at_ = now;
      tokens_ = rate_;
    }
    constexpr double kHeld_s = 2;
    tokens_ = std::min(kHeld_s * rate_, tokens_ + rate_ * seconds(now - at_));
    at_ = now;
    return static_cast<std::int64_t>(tokens_);
  }
  /// Notes that `changes` were requested, whatever the answers, and took `took`. Below half of the
  /// rate the controller counts as slow.
  void spend(std::int64_t changes, Duration took) {
    tokens_ = std::max(0.0, tokens_ - static_cast<double>(changes));
    const bool is_slow = seconds(took) > 2 * static_cast<double>(changes) / rate_ && took > 200ms;
    rate_ = std::clamp(is_slow ? rate_ / 2 : rate_ * 1.1, std::min(1.0, most_), most_);
  }
  double rate() const { return rate_; }

 private:
  double most_;
  double rate_;
  double tokens_ = 0;
  Time at_ = kNoTime;
};

}  // namespace almanac::steer
