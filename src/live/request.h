// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job of the store as the job of a trace: what policies and predictors know.
#pragma once

#include "store/job.h"
#include "trace/trace.h"

namespace almanac::live {

/// `job` as a job of `trace`, whose names it adds to. Of one that has not ended the outcome is
/// empty.
trace::Job to_record(const store::Job& job, trace::Trace& trace);

}  // namespace almanac::live
