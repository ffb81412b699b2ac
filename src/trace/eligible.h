// SPDX-License-Identifier: Apache-2.0

/// \file
/// When a job joined the queue, and whether it ever left it to run.
///
/// A job is submitted, becomes eligible (its dependency has ended, its begin time has come, its
/// hold is released), and starts. Only the time from eligible to start is queueing, under any
/// policy. Readers therefore set Request::submit to the later of submission and eligibility.
///
/// Source   sacct(1) of Slurm 22.05, field Eligible; PlannedCPU there counts from it as well.
#pragma once

#include "trace/trace.h"

namespace almanac::trace {

/// When the job was submitted, whether or not it could start then.
inline Time submission(const Request& request) {
  return request.submitted != kNoTime ? request.submitted : request.submit;
}

/// Sets when `job`, whose times are set, joined the queue: when it became eligible. kNoTime: the
/// log does not say. kNever: it never did, and joins when it left. Never later than its start or
/// its end.
void join_queue(Job& job, Time eligible);

/// Finds the dependencies of jobs. A job with an unknown eligible time joins the queue at the
/// recorded end of its dependency. Slurm's accounting does not name dependencies, so a job that
/// became eligible within seconds of the end of an earlier job of the same user counts as depending
/// on that job. Returns whether any job now joins later. Adds notes.
///
/// Cost: O(jobs log jobs) if any job has a dependency or was not eligible at once, otherwise
/// O(jobs).
bool find_dependencies(Trace& trace);

/// Whether a job left the queue without having run: it was cancelled there, or waits still. Slurm
/// records the start of such a job as its end.
bool never_ran(const Job& job);

/// Returns when a job that never ran left the queue; kNever if it is still there, or the log does
/// not say.
Time withdrawn_at(const Job& job);

}  // namespace almanac::trace
