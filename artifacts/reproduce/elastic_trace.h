// SPDX-License-Identifier: Apache-2.0

/// \file
/// Workloads published with Pollux' simulator, as job logs of our own.
#pragma once

#include <vector>

#include "tick/engine.h"
#include "trace/trace.h"

namespace almanac::reproduce {

/// Each job with the run time that its application tells, on the GPUs and with the batch that it
/// asks. Throws Malformed for one that was not measured so.
trace::Trace trace_of(const std::vector<elastic::TickJob>& jobs);

}  // namespace almanac::reproduce
