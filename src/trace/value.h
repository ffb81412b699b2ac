// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the end of a job is worth, and how late it came.
///
/// A job that ends by its deadline earns its whole value; then its value falls in a line, to
/// nothing at `worthless_at`. Where that is not given it is worth nothing from the deadline on: the
/// deadline is strict. A job without a deadline is best effort: late it cannot be.
///
/// Source: GENIE (TPDS'20) 5.3 for deadlines. Differs: the paper knows strict ones of
/// equal worth only.
#pragma once

#include <algorithm>
#include <cmath>

#include "trace/job.h"

namespace almanac::trace {

/// Of having ended in time.
inline double full_value(const Request& request) {
  return std::isnan(request.value) ? 1.0 : double{request.value};
}

/// Of having ended at `end`.
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
