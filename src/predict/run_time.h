// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the end of a job reveals, and the scale on which run times are compared.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/time.h"
#include "trace/job.h"

namespace almanac::predict {

/// What the end of a job reveals.
struct Ended {
  Time at{};
  Duration ran{};  ///< Run time without restart work.
  trace::JobState state = trace::JobState::unknown;
};

/// Returns log10 of the seconds, at least one second. Run times span seven decades, so errors are
/// compared as ratios.
inline double log_time(Duration ran) { return std::log10(std::max(1.0, seconds(ran))); }

/// Returns the run time for `log`, at least one second.
inline Duration from_log_time(double log) {
  return Duration{std::llround(1e3 * std::pow(10.0, std::max(0.0, log)))};
}

}  // namespace almanac::predict
