// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures time in whole milliseconds, so that the order of events never depends on rounding.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace almanac {

/// The time line of a trace, of a simulation and of the wall clock alike; its zero is the Unix
/// epoch, or whatever zero the trace chose.
struct Timeline {
  using rep = std::int64_t;
  using period = std::milli;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<Timeline>;
  static constexpr bool is_steady = true;
};

using Duration = Timeline::duration;
using Time = Timeline::time_point;

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

/// Stands for "not given" in records.
inline constexpr Time kNoTime = Time::min();
inline constexpr Duration kNoDuration = Duration::min();
/// Later than every event.
inline constexpr Time kNever = Time::max();

constexpr double seconds(Duration d) { return static_cast<double>(d.count()) / 1e3; }
constexpr double seconds(Time t) { return seconds(t.time_since_epoch()); }

}  // namespace almanac
