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

/// Returns `job` as a job of a log with `names`. Its id is its number, or like "12_3" if it is a
/// task of an array that limits how many run at once: simulations keep that limit. The outcome of
/// an unfinished job is empty.
trace::Job record_of(const Job& job, Names& names);

/// Returns a log of records as record_of() makes them. The run time of a job is the total over all
/// its runs, including those ended by preemption. Of its dependencies, the log names the one that
/// ended last. Notes list what a log cannot express.
///
/// `jobs` must have ended and be in order of submission; `path` is their source.
trace::Trace log_of(const std::vector<Job>& jobs, const std::string& path);

}  // namespace almanac::store
