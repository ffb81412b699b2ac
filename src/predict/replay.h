// SPDX-License-Identifier: Apache-2.0

/// \file
/// Goes through a job log in order of time, so that nothing is known before it has happened.
///
/// A log's outcomes come with its submissions, and a predictor that reads them in that order
/// knows the future. Here a job's outcome becomes known only once it has ended *before* the
/// submission at hand: at its recorded end; else at its recorded start plus its run time; else,
/// where the log has neither, at its submission plus its run time, as if it had not waited. That
/// last reading is the earliest possible one: such a log does not tell more.
#pragma once

#include <functional>
#include <span>

#include "predict/estimator.h"
#include "predict/run_time.h"
#include "trace/job.h"

namespace almanac::predict {

/// When the outcome of `job` is known.
Time known_at(const trace::Job& job);

using OnSubmit = std::function<void(JobId, const trace::Request&)>;
using OnEnd = std::function<void(JobId, const trace::Request&, const Ended&)>;

/// Tells of the submissions of a log and of the ends of these jobs, each once and in order of time,
/// as far as they lie before `until`. Of what happens in one instant submissions come first: a
/// job that is submitted when another ends does not know how it ended. CPU jobs are not told of (a
/// scheduler of GPUs does not see them), nor are jobs that never ran. O(n log n).
void replay(std::span<const trace::Job> jobs, const OnSubmit& on_submit, const OnEnd& on_end,
            Time until = kNever);

/// Has `pupil` learn from `jobs`, all of which have ended.
void teach(Estimator& pupil, std::span<const trace::Job> jobs);

}  // namespace almanac::predict
