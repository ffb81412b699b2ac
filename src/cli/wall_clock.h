// SPDX-License-Identifier: Apache-2.0

/// \file
/// Times of a live service in the time zone of the machine, as users read and write them.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "base/wall_clock.h"

namespace almanac::cli {

/// "13:05:00" of today, else "2026-11-22 13:05"; "" for kNoTime.
std::string clock_text(Time at, Time now);

/// How long ago: "7d"; or since when: "2026-11-22", "2026-11-22T13:05:00" here, "...Z" there.
Result<Time> parse_since(const std::string& option, const std::string& text, Time now);

}  // namespace almanac::cli
