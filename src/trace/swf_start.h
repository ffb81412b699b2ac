// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a log in the Standard Workload Format starts, by the field StartTime of its header: a date
/// as `date` of Unix prints it.
///
/// Source   SWF 2.2, cs.huji.ac.il/labs/parallel/workload/swf.html.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace almanac::trace {

struct SwfStart {
  Time time{};            ///< In UTC if `has_zone`, else what the cluster's clock showed.
  bool has_zone = false;  ///< The date says UTC, GMT or an offset.
};

/// Parses "Tue Feb 21 18:44:15 IST 2006", with or without weekday and zone, or an ISO 8601 date;
/// returns nothing for other texts. Zone abbreviations except UTC and GMT are ignored, because IST
/// may be Israel, India or Ireland.
std::optional<SwfStart> parse_swf_start(std::string_view text);

}  // namespace almanac::trace
