// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes a job log from the parameters of a workload.
///
/// Source   Hu et al., SC'21, sections 3.1 to 3.3, for what a log of a deep-learning cluster looks
///          like; docs/guide/generator.md says which figure gives which parameter.
/// Differs  Nothing is copied from a log: the margins (sizes, run times, rhythm, users) are met,
///          the joint behavior is a model.
#pragma once

#include <cstdint>
#include <functional>

#include "trace/trace.h"
#include "trace/workload.h"

namespace almanac::trace {

/// Generates a log, sorted by submission, with job ids from 1; times are whole seconds.
///
/// The number of jobs by size and virtual cluster, and the run times by size, are exactly those of
/// the workload, whatever the seed; the seed decides which user submits which job when. For tasks
/// (generate_tasks.h), everything is drawn.
/// Requires: check(workload) finds nothing.
/// Cost: about 190 bytes per job at the peak. Deterministic.
/// `progress` is called with the fraction done; may be empty.
Trace generate(const Workload& workload, std::uint64_t seed,
               const std::function<void(double)>& progress = {});

}  // namespace almanac::trace
