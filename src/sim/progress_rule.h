// SPDX-License-Identifier: Apache-2.0

/// \file
/// How a run counts the progress of its jobs, if not exactly.
#pragma once

#include "base/time.h"

namespace almanac::sim {

/// Replaces the exact progress of jobs, so that a run can be compared with a simulator that counts
/// in larger units.
class ProgressRule {
 public:
  virtual ~ProgressRule() = default;
  /// Returns the rate of progress for a job that would progress at `rate`. One of its iterations
  /// takes `step_ms` alone; 0 if unknown.
  virtual double rate(double rate, double step_ms) const = 0;
  /// Returns when the run notices the end of a job that is done at `at`; never earlier.
  virtual Time noticed(Time at) const = 0;
};

}  // namespace almanac::sim
