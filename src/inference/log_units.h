// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides whether the arrivals of a request log are seconds or milliseconds, if its format does
/// not define it.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace almanac::inference {

/// Evidence about the arrivals of a log.
struct ArrivalSigns {
  double usual = 1e3;       ///< Microseconds per unit in the format that the log resembles.
  bool is_usual = true;     ///< Whether block size and keys match that format.
  bool has_points = false;  ///< Whether any time has a decimal point.
  std::size_t requests = 0;
  double span = 0;  ///< From the first to the last arrival, in the unknown unit.
};

/// Returns the microseconds per unit: 1e3 or 1e6. Uses the unit of the format if the log matches
/// it; otherwise the unit with a plausible request rate. Fails with `invalid` if both are
/// plausible, or neither.
Result<double> arrival_unit(const ArrivalSigns& signs, const std::string& path);

}  // namespace almanac::inference
