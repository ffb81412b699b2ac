// SPDX-License-Identifier: Apache-2.0

/// \file
/// The first part of a run, which averages and utilization leave out.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "trace/trace.h"

namespace almanac::experiment {

/// Fails if no job of `trace` is submitted after the warm-up: averages would have no job.
Result<void> check_warm_up(Duration warm_up, const trace::Trace& trace);

}  // namespace almanac::experiment
