// SPDX-License-Identifier: Apache-2.0

/// \file
/// The clocks that a live service reads, as one object that a test can replace.
#pragma once

#include <chrono>

#include "base/time.h"

namespace almanac::service {

/// Thread-safe.
class Clock {
 public:
  /// An instant of the monotonic clock.
  using Instant = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;

  /// Time of day. An administrator may set it, also back; `ServiceTime` never goes back.
  virtual Time wall() const = 0;
  /// For pauses, timeouts and measurements. Cannot be set. Stands still while the machine sleeps.
  virtual Instant monotonic() const = 0;
  /// Time since the machine booted, sleep included. Cannot be set.
  virtual Duration since_boot() const = 0;

  /// Seconds since `begun`, to the resolution of the monotonic clock.
  double seconds_since(Instant begun) const {
    return std::chrono::duration<double>(monotonic() - begun).count();
  }
};

/// The clocks of this machine.
const Clock& machine_clock();

}  // namespace almanac::service
