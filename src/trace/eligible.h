// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a job joined the queue, and whether it ever left it to run.
///
/// A job is submitted, becomes eligible (its dependency has ended, its begin time has come, it is
/// held no longer) and starts. Only the time from eligible to start is queueing, whatever policy
/// decides. Readers therefore let Request::submit be the later of submission and eligibility.
///
/// Source   sacct(1) of Slurm 22.05, field Eligible; PlannedCPU there counts from it as well.
#pragma once

#include "trace/trace.h"

namespace almanac::trace {

/// When the job was submitted, whether or not it could start then.
inline Time submission(const Request& request) {
  return request.submitted != kNoTime ? request.submitted : request.submit;
}

/// Lets `job`, whose times are set, join the queue when it was eligible. kNoTime = the log does not
/// say; kNever = it never was, and joins when it left. Never later than its start or its end.
void join_queue(Job& job, Time eligible);

/// Finds what jobs depended on, and lets those of which only that is known join the queue at its
/// recorded end. A job that became eligible within seconds of the end of another of its user's,
/// which was submitted before it, depends on that one: Slurm's accounting does not name
/// dependencies. Returns whether any job joins later than was read. Adds notes.
///
/// Cost: O(jobs log jobs) where some job has a dependency or was not eligible at once, else
/// O(jobs).
bool find_dependencies(Trace& trace);

/// Whether a job left the queue without having run: it was cancelled there, or waits still. Slurm
/// records the start of such a job as its end.
bool never_ran(const Job& job);

/// When a job that never ran left the queue; kNever = it is there still, or the log does not say.
Time withdrawn_at(const Job& job);

}  // namespace almanac::trace
