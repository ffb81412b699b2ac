// SPDX-License-Identifier: Apache-2.0

/// \file
/// What becomes known when a job ends, and the scale on which run times are compared.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/time.h"
#include "trace/job.h"

namespace almanac::predict {

/// What the end of a job tells.
struct Ended {
  Time at{};
  Duration ran{};  ///< Run time without restart work.
  trace::JobState state = trace::JobState::unknown;
};

/// Run times spread over seven decades: errors are compared as ratios. log10 of seconds; less than
/// a second counts as one.
inline double log_time(Duration ran) { return std::log10(std::max(1.0, seconds(ran))); }

/// The run time that `log` stands for; at least one second.
inline Duration from_log_time(double log) {
  return Duration{std::llround(1e3 * std::pow(10.0, std::max(0.0, log)))};
}

}  // namespace almanac::predict
