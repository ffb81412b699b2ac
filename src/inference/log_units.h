// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides whether the arrivals of a request log count seconds or milliseconds, where its format
/// does not settle it.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace almanac::inference {

/// What is known of the arrivals of a log.
struct ArrivalSigns {
  double usual = 1e3;       ///< Microseconds in a unit of the format that it looks like.
  bool is_usual = true;     ///< All else is as in that format: block size, keys.
  bool has_points = false;  ///< Some time is written with a decimal point.
  std::size_t requests = 0;
  double span = 0;  ///< From the first to the last arrival, in the unknown unit.
};

/// Microseconds in one unit: 1e3 or 1e6. The unit is the usual one where the log looks as usual;
/// else the one whose rate of requests is plausible. Fails with invalid where both are, or neither.
Result<double> arrival_unit(const ArrivalSigns& signs, const std::string& path);

}  // namespace almanac::inference
