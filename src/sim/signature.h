// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reduces a schedule to one number, so that a test can prove that nothing changed.
#pragma once

#include <cstdint>

#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::sim {

/// A 64-bit hash (XXH3) over the outcome of each simulated job, in job order: phase, first start,
/// end, time on GPUs, preemptions, and the nodes, GPU masks, parts of GPUs, cores and memory that
/// it held last. The same on every machine.
std::uint64_t signature(const trace::Trace& trace, const Schedule& schedule);

}  // namespace almanac::sim
