// SPDX-License-Identifier: Apache-2.0

/// \file
/// Formats a time of a trace for the output of commands.
#pragma once

#include <string>

#include "base/time.h"

namespace almanac::text {

/// Returns "2020-01-06 13:05:00"; "90s" for times within a year of zero, which do not count from
/// the epoch; "never" for kNever.
std::string moment(Time at);

}  // namespace almanac::text
