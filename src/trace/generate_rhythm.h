// SPDX-License-Identifier: Apache-2.0

/// \file
/// Turns even time into the calendar's: where submissions are frequent, the calendar is slow.
///
/// All submissions are drawn evenly over [0, 1) and mapped through the cumulative rhythm, so the
/// hourly and weekly profile holds whatever else is done to the arrivals (sessions, gaps).
/// Source   Hu et al., SC'21, Figure 2(b) (submissions by hour of day).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/workload.h"

namespace almanac::trace {

class Calendar {
 public:
  explicit Calendar(const Workload& workload);

  /// Whole seconds since the start of the span; `even` in [0, 1), increasing.
  std::int64_t second(double even) const;

  /// The even time of `second` seconds since the start; beyond the end it begins anew.
  double even(double second) const;

  /// How frequent submissions are at `second`; only ratios mean anything.
  double rate(double second) const;

 private:
  double total_to(std::size_t part) const;
  double begin_of(std::size_t hour) const;
  /// The hour that holds `second`, which is brought into the span.
  std::size_t hour_of(double& second) const;

  double span_s_;
  double first_s_;                    // from the start to the first full hour
  std::vector<double> cumulative_;    // of the rhythm, up to the end of each hour
  std::vector<std::uint32_t> guide_;  // where to start looking: the hour that each n-th part is in
};

}  // namespace almanac::trace
