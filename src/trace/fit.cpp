// SPDX-License-Identifier: Apache-2.0
#include "trace/fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stats/quantile.h"
#include "trace/fit_steps.h"

namespace almanac::trace {

double whole_run(const Job& job) { return std::max(1.0, std::ceil(seconds(job.outcome.run))); }

Ending ending_of(JobState state) {
  switch (state) {
    case JobState::cancelled:
    case JobState::preempted:
      return Ending::cancelled;
    case JobState::failed:
    case JobState::timeout:
    case JobState::node_fail:
      return Ending::failed;
    default:
      return Ending::completed;
  }
}

double quartile_spread(std::vector<double> values) {
  if (values.size() < 4) return 0;
  std::sort(values.begin(), values.end());
  const double between =
      stats::quantile_sorted(values, 0.75) - stats::quantile_sorted(values, 0.25);
  return between / 1.349;  // of the standard normal
}

Result<Fit> fit(const Trace& trace) {
  Fit result;
  FitInput input{trace, {}, {}, result.notes, 0};
  for (const Job& job : trace.jobs) {
    if (job.request.gpus <= 0) continue;
    input.jobs.push_back(&job);
    if (job.request.user != kNoName) ++input.with_user;
  }
  if (input.jobs.size() < 2) {
    return fail(
        Code::invalid,
        fmt::format("a log to learn from needs at least 2 GPU jobs, but has {}", input.jobs.size()),
        {trace.path});
  }
  if (const std::size_t rest = trace.jobs.size() - input.jobs.size(); rest > 0) {
    result.notes.push_back(fmt::format("{} jobs without GPUs are left out", rest));
  }
  Workload& workload = result.workload;
  fit_span(input, workload);
  fit_sizes(input, workload);
  fit_vcs(input, workload);
  fit_rhythm(input, workload);
  if (input.with_user == 0) {
    invent_users(input, workload);
    return result;
  }
  fit_sessions(input, workload);
  fit_recipes(input, workload);
  fit_limits(input, workload);
  fit_users(input, workload);
  return result;
}

}  // namespace almanac::trace
