// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses and formats durations, as Slurm writes them: [D-]HH:MM:SS.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace almanac::text {

/// The value of "UNLIMITED"; longer than every time limit.
inline constexpr Duration kUnlimited = Duration::max();

/// Parses "2-03:04:05", "03:04:05", "04:05", "2-03", "2-03:04" and "UNLIMITED"; "1 day, 6:00:00"
/// and "2 days 06:00:00", as Python and pandas write them; "90s", "10m", "2h", "1d", "1w" and
/// "250ms", also with a fraction ("1.5h"). Returns nothing for other text, and for a number without
/// a unit other than 0: Slurm would read it as minutes, most other programs as seconds.
std::optional<Duration> parse_duration(std::string_view text);

/// Returns "03:04:05", "2-03:04:05" or "UNLIMITED", with milliseconds if there are any.
std::string format_duration(Duration duration);

}  // namespace almanac::text
