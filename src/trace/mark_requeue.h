// SPDX-License-Identifier: Apache-2.0

/// \file
/// Marks a fraction of a log's jobs as submitted with --requeue, for simulations of clusters where
/// only some jobs may be stopped.
#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace almanac::trace {

/// Marks each job with probability `fraction`; the others say nothing. What a job draws depends on
/// `seed` and its position only, so a larger fraction marks more jobs and the same ones.
void mark_requeue(Trace& trace, double fraction, std::uint64_t seed);

}  // namespace almanac::trace
