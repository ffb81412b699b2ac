// SPDX-License-Identifier: Apache-2.0

/// \file
/// A point of time of a trace, as commands print it.
#pragma once

#include <string>

#include "base/time.h"

namespace almanac::text {

/// "2020-01-06 13:05:00"; in seconds where times are from the trace's own zero.
std::string moment(Time at);

}  // namespace almanac::text
