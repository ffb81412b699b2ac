// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads and writes dates with times: "2020-05-27 23:58:26", ISO 8601 alike. All is UTC: job logs
/// carry no zone, and UTC has no hour that happens twice.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace almanac::text {

/// "YYYY-MM-DD", then " " or "T", "hh:mm:ss"; a fraction, "Z" or "+hh:mm" may follow; the time of
/// day may be missing. About 15 ns.
std::optional<Time> parse_datetime(std::string_view text);

/// Whether a date with time says its zone: "Z" or "+hh:mm".
bool has_zone(std::string_view text);

/// "2020-05-27 23:58:26", with ".125" when the time has milliseconds.
std::string format_datetime(Time time);

}  // namespace almanac::text
