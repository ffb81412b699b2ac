// SPDX-License-Identifier: Apache-2.0

/// \file
/// The least work that any simulation of first-come-first-served can do.
#pragma once

#include "base/time.h"
#include "trace/trace.h"

namespace almanac::bench {

/// Runs the trace first come, first served, in each of its virtual clusters at once as if they were
/// one of `gpus` GPUs: a binary heap of ends and a counter of free GPUs, nothing recorded but the
/// sum of waits (which it gives, so that the work is not optimised away).
Duration floor_fifo(const trace::Trace& trace, std::int64_t gpus);

}  // namespace almanac::bench
