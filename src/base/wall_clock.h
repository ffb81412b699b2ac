// SPDX-License-Identifier: Apache-2.0

/// \file
/// The wall clock, which may be set forward and back, and the monotonic clock. service/clock.h is
/// for live services.
#pragma once

#include <chrono>

#include "base/time.h"

namespace almanac {

inline Time wall_clock() {
  return Time{
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
}

/// Returns the time of the monotonic clock, for waiting. Its zero is arbitrary.
inline Time steady() {
  return Time{
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

}  // namespace almanac
