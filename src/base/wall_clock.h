// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the clock of the wall says now, and one that only goes on. The wall's may be set, also
/// back: service/clock.h has one that is not.
#pragma once

#include <chrono>

#include "base/time.h"

namespace almanac {

inline Time wall_clock() {
  return Time{
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
}

/// A clock that nobody sets, for what is waited for; its zero is any.
inline Time steady() {
  return Time{
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

}  // namespace almanac
