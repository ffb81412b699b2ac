// SPDX-License-Identifier: Apache-2.0

/// \file
/// The time of the service: the wall's, but never backwards.
///
/// Between two readings it advances as a clock does that is never set and that counts while the
/// machine sleeps (CLOCK_BOOTTIME). Where the wall has been set ahead by more than a minute, it
/// follows at once; where the wall was set back, it goes on and the wall catches up.
#pragma once

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/wall_clock.h"

namespace almanac::service {

class Clock {
 public:
  /// Never earlier than `floor`: what was said before a restart stays in the past.
  explicit Clock(Time floor) : Clock(floor, wall_clock(), steady()) {}
  /// The same by readings of both clocks.
  Clock(Time floor, Time wall, Duration steady) : wall_(std::max(wall, floor)), steady_(steady) {}

  Time now() { return now(wall_clock(), steady()); }
  Time now(Time wall, Duration steady) {
    const Time ours = wall_ + (steady - steady_);
    if (wall <= ours + 1min) return ours;
    jumped_ += wall - ours;
    wall_ = wall;
    steady_ = steady;
    return wall;
  }
  /// How far it was set ahead since this was asked last: time in which nothing happened.
  Duration take_jump() { return std::exchange(jumped_, Duration{0}); }

 private:
  static Duration steady() {
    timespec read{};
    ::clock_gettime(CLOCK_BOOTTIME, &read);
    return Duration{std::int64_t{read.tv_sec} * 1000 + read.tv_nsec / 1'000'000};
  }

  Time wall_;
  Duration steady_;
  Duration jumped_{};
};

}  // namespace almanac::service
