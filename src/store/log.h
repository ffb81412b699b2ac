// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs of the store as a job log, for study, predict and simulate.
#pragma once

#include <string>
#include <vector>

#include "base/names.h"
#include "store/job.h"
#include "trace/trace.h"

namespace almanac::store {

/// `job` as a job of a log whose names are `names`. Of one that has not ended the outcome is empty.
trace::Job record_of(const Job& job, Names& names);

/// A job's id is its number, that of a task too. Its run time is all the time that it ran, runs
/// included that a preemption ended. Of the jobs that it comes after, the log names the one that
/// ended last. What a log has no place for is said in its notes.
///
/// `jobs` have ended and are in order of submission; `path` is where they are from.
trace::Trace log_of(const std::vector<Job>& jobs, const std::string& path);

}  // namespace almanac::store
