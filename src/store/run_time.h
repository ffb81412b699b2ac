// SPDX-License-Identifier: Apache-2.0

/// \file
/// The run time of a job.
#pragma once

#include "base/time.h"
#include "store/job.h"

namespace almanac::store {

/// Returns the run time so far, over all runs.
inline Duration ran(const Job& job, Time now) {
  const bool runs = job.state == trace::JobState::running;
  return job.attained + (runs ? now - job.since : Duration(0));
}

}  // namespace almanac::store
