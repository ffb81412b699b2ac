// SPDX-License-Identifier: Apache-2.0

/// \file
/// The value of a job's end, and its tardiness.
///
/// A job that ends by its deadline earns its full value. After that its value falls linearly to
/// nothing at `worthless_at`; without that, the deadline is strict. A job without a deadline is
/// best effort and never late.
///
/// Source: GENIE (TPDS'20) 5.3 for deadlines. Differs: the paper only has strict deadlines of equal
/// value.
#pragma once

#include <algorithm>
#include <cmath>

#include "trace/job.h"

namespace almanac::trace {

/// Returns the value of ending in time.
inline double full_value(const Request& request) {
  return std::isnan(request.value) ? 1.0 : double{request.value};
}

/// Returns the value of ending at `end`.
inline double value_at(const Request& request, Time end) {
  const double full = full_value(request);
  if (request.deadline == kNoTime || end <= request.deadline) return full;
  if (request.worthless_at == kNoTime || end >= request.worthless_at) return 0;
  return full *
         (seconds(request.worthless_at - end) / seconds(request.worthless_at - request.deadline));
}

/// How long after its deadline it ended; 0 in time, or without a deadline.
inline Duration tardiness(const Request& request, Time end) {
  if (request.deadline == kNoTime) return Duration::zero();
  return std::max(Duration::zero(), end - request.deadline);
}

}  // namespace almanac::trace
