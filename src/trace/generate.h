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
#include <vector>

#include "trace/trace.h"
#include "trace/workload.h"

namespace almanac::trace {

/// For each job, up to 200 equally likely run times in seconds, ascending. This is all that can be
/// known of a run time when the job is submitted: the habits of its user, recipe and session, and
/// its time limit, but not the outcome of its own draw.
using PossibleRuns = std::vector<std::vector<std::uint32_t>>;

/// Generates a log, sorted by submission, with job ids from 1; times are whole seconds.
///
/// The number of jobs by size and virtual cluster, and the run times by size, are exactly those of
/// the workload, whatever the seed; the seed decides which user submits which job when. For tasks
/// (generate_tasks.h), everything is drawn.
/// Requires: check(workload) finds nothing.
/// Cost: about 190 bytes per job at the peak. Deterministic.
/// `progress` is called with the fraction done; may be empty.
/// `possible`, unless null, is set to the possible runs of the jobs, in their order. Not for tasks.
/// Cost of `possible`: 0.3 ms and 1 kB per job.
Trace generate(const Workload& workload, std::uint64_t seed,
               const std::function<void(double)>& progress = {}, PossibleRuns* possible = nullptr);

}  // namespace almanac::trace
