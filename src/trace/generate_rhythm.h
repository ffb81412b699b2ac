// SPDX-License-Identifier: Apache-2.0

/// \file
/// Maps uniform time to calendar time: calendar time passes slowly while submissions are frequent.
///
/// Submissions are drawn uniformly over [0, 1) and mapped through the cumulative rhythm. The hourly
/// and weekly profile therefore holds whatever else changes the arrivals (sessions, gaps). Source
/// Hu et al., SC'21, Figure 2(b) (submissions by hour of day).
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

  /// Returns the uniform time of `second` seconds since the start; repeats after the end.
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
  std::vector<std::uint32_t> guide_;  // for each n-th part, the hour at which a search starts
};

}  // namespace almanac::trace
