// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes a job log from the parameters of a workload.
///
/// Source   Hu et al., SC'21, sections 3.1 to 3.3, for what a log of a deep-learning cluster looks
///          like; docs/guide/generator.md says which figure gives which parameter.
/// Differs  Nothing is copied from a log: the margins (sizes, run times, rhythm, users) are met,
///          the joint behaviour is a model.
#pragma once

#include <cstdint>
#include <functional>

#include "trace/trace.h"
#include "trace/workload.h"

namespace almanac::trace {

/// The log, sorted by submission, job ids from 1 on; times are whole seconds.
///
/// The number of jobs of each size and virtual cluster and the run times of each size are those
/// of the workload, whatever the seed; the seed decides which user submits which when. Of tasks
/// (generate_tasks.h) everything is drawn.
/// Requires: check(workload) finds nothing.
/// Cost: about 190 bytes a job at the peak. Deterministic.
/// `progress` is told the share that is done; may be empty.
Trace generate(const Workload& workload, std::uint64_t seed,
               const std::function<void(double)>& progress = {});

}  // namespace almanac::trace
