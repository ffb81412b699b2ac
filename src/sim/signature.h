// SPDX-License-Identifier: Apache-2.0

/// \file
/// Boils a schedule down to one number, so that "nothing has changed" can be proved.
#pragma once

#include <cstdint>

#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::sim {

/// A 64-bit hash (XXH3) over all that a schedule did with each simulated job, in job order: its
/// phase, first start, end, time on GPUs, preemptions, and the nodes, GPU masks, parts of GPUs,
/// cores and memory that it held last. The same on every machine.
std::uint64_t signature(const trace::Trace& trace, const Schedule& schedule);

}  // namespace almanac::sim
