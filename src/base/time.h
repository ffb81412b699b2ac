// SPDX-License-Identifier: Apache-2.0

/// \file
/// Times and durations in whole milliseconds, so that rounding never changes the order of events.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace almanac {

/// The clock of traces, simulations and the wall clock. Its zero is the Unix epoch or, in some
/// traces, another one.
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

/// "Not given", in records.
inline constexpr Time kNoTime = Time::min();
inline constexpr Duration kNoDuration = Duration::min();
/// Later than every event.
inline constexpr Time kNever = Time::max();

constexpr double seconds(Duration d) { return static_cast<double>(d.count()) / 1e3; }
constexpr double seconds(Time t) { return seconds(t.time_since_epoch()); }

}  // namespace almanac
