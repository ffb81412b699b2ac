// SPDX-License-Identifier: Apache-2.0

/// \file
/// The time of a service: the wall clock's, but never backwards.
///
/// Between two readings it advances with the time since boot, which cannot be set and counts
/// while the machine sleeps. If the wall clock is set ahead by more than a minute, service time
/// follows at once. If the wall clock is set back, service time goes on until the wall catches up.
#pragma once

#include <algorithm>
#include <utility>

#include "service/clock.h"

namespace almanac::service {

class ServiceTime {
 public:
  /// Starts at `floor` or the wall's time, whichever is later, so that what was reported before a
  /// restart stays in the past. `clock` must outlive it.
  ServiceTime(const Clock& clock, Time floor)
      : clock_(clock), wall_(std::max(clock.wall(), floor)), since_boot_(clock.since_boot()) {}

  Time now() {
    const Time wall = clock_.wall();
    const Duration since_boot = clock_.since_boot();
    const Time ours = wall_ + (since_boot - since_boot_);
    if (wall <= ours + 1min) return ours;
    jumped_ += wall - ours;
    wall_ = wall;
    since_boot_ = since_boot;
    return wall;
  }
  /// How far the wall clock was set ahead since the last call: time in which nothing happened.
  Duration take_jump() { return std::exchange(jumped_, Duration{0}); }

 private:
  const Clock& clock_;
  Time wall_;
  Duration since_boot_;
  Duration jumped_{};
};

}  // namespace almanac::service
