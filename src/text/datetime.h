// SPDX-License-Identifier: Apache-2.0

/// \file
/// Parses and formats dates with times, "2020-05-27 23:58:26" and ISO 8601. All times are UTC: job
/// logs have no time zone, and UTC has no hour that occurs twice.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace almanac::text {

/// Parses "YYYY-MM-DD", then " " or "T", "hh:mm:ss". A fraction, and "Z" or "+hh:mm", may follow.
/// The seconds, or the time of day, may be missing. Returns nothing for other text. Cost: about 15
/// ns.
std::optional<Time> parse_datetime(std::string_view text);

/// Whether a date with time has a zone: "Z" or "+hh:mm".
bool has_zone(std::string_view text);

/// Returns "2020-05-27 23:58:26", with ".125" if the time has milliseconds.
std::string format_datetime(Time time);

}  // namespace almanac::text
