// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long a job has run.
#pragma once

#include "base/time.h"
#include "store/job.h"

namespace almanac::store {

/// Run time so far, all runs together.
inline Duration ran(const Job& job, Time now) {
  const bool runs = job.state == trace::JobState::running;
  return job.attained + (runs ? now - job.since : Duration(0));
}

}  // namespace almanac::store
