// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads and writes lengths of time as Slurm does: [D-]HH:MM:SS.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace almanac::text {

/// Longer than every time limit: "UNLIMITED".
inline constexpr Duration kUnlimited = Duration::max();

/// "2-03:04:05", "03:04:05", "04:05", "2-03", "2-03:04", "UNLIMITED"; "1 day, 6:00:00" and
/// "2 days 06:00:00", as Python and pandas print lengths; "90s", "10m", "2h", "1d",
/// "1w", "250ms", also with a fraction ("1.5h"). A bare number is refused, except 0: Slurm would
/// mean minutes, most others seconds.
std::optional<Duration> parse_duration(std::string_view text);

/// "03:04:05", "2-03:04:05", "UNLIMITED"; milliseconds follow only where there are any.
std::string format_duration(Duration duration);

}  // namespace almanac::text
