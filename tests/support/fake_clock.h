// SPDX-License-Identifier: Apache-2.0

/// \file
/// A clock that only a test moves, so that no test waits for time to pass.
#pragma once

#include <mutex>

#include "service/clock.h"

namespace almanac {

/// Thread-safe.
class FakeClock final : public service::Clock {
 public:
  explicit FakeClock(Time wall = Time{Duration{1'700'000'000'000}}) : wall_(wall) {}

  Time wall() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  Instant monotonic() const override {
    const std::lock_guard lock(mutex_);
    return monotonic_;
  }
  Duration since_boot() const override {
    const std::lock_guard lock(mutex_);
    return since_boot_;
  }

  /// Lets time pass.
  void advance(Duration time) {
    const std::lock_guard lock(mutex_);
    wall_ += time;
    monotonic_ += time;
    since_boot_ += time;
  }
  /// Lets the machine sleep: the monotonic clock stands still.
  void sleep(Duration time) {
    const std::lock_guard lock(mutex_);
    wall_ += time;
    since_boot_ += time;
  }
  void set_wall(Time wall) {
    const std::lock_guard lock(mutex_);
    wall_ = wall;
  }

 private:
  mutable std::mutex mutex_;
  Time wall_;
  Instant monotonic_{std::chrono::hours(1)};
  Duration since_boot_ = 1h;
};

}  // namespace almanac
