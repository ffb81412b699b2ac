// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replays a job log in order of time, so that nothing is known before it has happened.
///
/// The outcomes in a log come with its submissions; a predictor that reads them in that order would
/// know the future. Here the outcome of a job becomes known only once it has ended *before* the
/// current submission: at its recorded end; else at its recorded start plus its run time; else, if
/// the log has neither, at its submission plus its run time, as if it had not waited. That is the
/// earliest possible time, and all that such a log can give.
#pragma once

#include <functional>
#include <span>

#include "predict/estimator.h"
#include "predict/run_time.h"
#include "trace/job.h"

namespace almanac::predict {

/// Returns when the outcome of `job` is known.
Time known_at(const trace::Job& job);

using OnSubmit = std::function<void(JobId, const trace::Request&)>;
using OnEnd = std::function<void(JobId, const trace::Request&, const Ended&)>;

/// Reports the submissions of a log and the ends of these jobs, each once and in order of time, up
/// to `until`. At one instant, submissions come first: a job that is submitted when another ends
/// does not know how it ended. Leaves out CPU jobs, because a GPU scheduler does not see them, and
/// jobs that never ran. O(n log n).
void replay(std::span<const trace::Job> jobs, const OnSubmit& on_submit, const OnEnd& on_end,
            Time until = kNever);

/// Trains `pupil` on `jobs`, all of which have ended.
void teach(Estimator& pupil, std::span<const trace::Job> jobs);

}  // namespace almanac::predict
