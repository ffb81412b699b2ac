// SPDX-License-Identifier: Apache-2.0

/// \file
/// The time of the service: the wall's, but never backwards.
///
/// Between two readings it advances as a clock does that nobody sets and that counts while the
/// machine sleeps (CLOCK_BOOTTIME). Where the wall has been set ahead by more than a minute, it
/// follows at once; where the wall was set back, it goes on and the wall catches up.
#pragma once

#include <algorithm>
#include <ctime>

#include "base/wall_clock.h"

namespace almanac::live {

class Clock {
 public:
  /// Never earlier than `floor`: what was said before a restart stays in the past.
  explicit Clock(Time floor) : wall_(std::max(wall_clock(), floor)), steady_(steady()) {}

  Time now() {
    const Time ours = wall_ + (steady() - steady_);
    const Time theirs = wall_clock();
    if (theirs <= ours + 1min) return ours;
    wall_ = theirs;
    steady_ = steady();
    return theirs;
  }

 private:
  static Duration steady() {
    timespec read{};
    ::clock_gettime(CLOCK_BOOTTIME, &read);
    return Duration{std::int64_t{read.tv_sec} * 1000 + read.tv_nsec / 1'000'000};
  }

  Time wall_;
  Duration steady_;
};

}  // namespace almanac::live
