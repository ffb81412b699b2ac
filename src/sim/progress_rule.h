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
  /// Returns the rate at which a job proceeds that would proceed at `rate`. One iteration of it
  /// takes `step_ms` alone; 0 = unknown.
  virtual double rate(double rate, double step_ms) const = 0;
  /// Returns when the run notices that a job has ended that is done at `at`; never earlier.
  virtual Time noticed(Time at) const = 0;
};

}  // namespace almanac::sim
