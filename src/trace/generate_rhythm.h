// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns even time into the calendar's: where submissions are frequent, the calendar is slow.
///
/// All submissions are drawn evenly over [0, 1) and mapped through the cumulative rhythm, so the
/// hourly and weekly profile holds whatever else is done to the arrivals (sessions, gaps).
/// Source   Hu et al., SC'21, Figure 2(b) (submissions by hour of day).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/workload.h"

namespace almanac::trace {

class Calendar {
 public:
  explicit Calendar(const Workload& workload);

  /// Whole seconds since the start of the span; `even` in [0, 1), increasing.
  std::int64_t second(double even) const;

 private:
  double span_s_;
  double first_s_;                  // from the start to the first full hour
  std::vector<double> cumulative_;  // of the rhythm, up to the end of each hour
};

}  // namespace almanac::trace
