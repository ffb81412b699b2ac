// SPDX-License-Identifier: Apache-2.0
#include "report/run_digest.h"

#include <algorithm>
#include <cmath>

#include "stats/percentiles.h"
#include "stats/quantile.h"

namespace almanac::report {
namespace {

/// Sorts `values`.
std::vector<double> at_percentiles(std::vector<double>& values) {
  std::vector<double> found;
  if (values.empty()) return found;
  std::sort(values.begin(), values.end());
  for (const double percent : stats::kPercentiles) {
    found.push_back(stats::quantile_sorted(values, percent / 100));
  }
  return found;
}

/// How long a job ran for work that its run time in the log does not account for.
double beyond_the_log_s(const sim::Schedule& schedule, std::size_t at, const trace::Job& job,
                        const sim::JobResult& result) {
  if (schedule.pace_log.empty()) return seconds(result.ran - job.outcome.run);
  // At its own speed: one that lacked cores ran longer without any restart.
  const double rate = schedule.pace_log[at].rate;
  const double beyond_ms = 1e3 * (seconds(result.ran) - seconds(job.outcome.run) / rate);
  // The end of a job is rounded up to a millisecond.
  return std::trunc(beyond_ms) / 1e3;
}

}  // namespace

DigestPlan::DigestPlan(const RunInput& input)
    : gantt(gantt_limits(input)),
      windows(gantt_windows(input, gantt)),
      occupancy(occupancy_limits(input)) {
  constexpr std::size_t kRows = 4'000;
  constexpr std::size_t kMost = 400;
  constexpr std::size_t kLeast = 50;
  timeline_bins = std::clamp(kRows / std::max<std::size_t>(1, input.policies()), kLeast, kMost);
}

PolicyDigest digest(const RunInput& input, const DigestPlan& plan, experiment::Summary summary,
                    const sim::Schedule& schedule) {
  PolicyDigest made{.summary = std::move(summary)};
  const std::string& policy = made.summary.policy;
  std::vector<double> jct;
  std::vector<double> wait;
  jct.reserve(made.summary.finished);
  wait.reserve(made.summary.finished);
  for (std::size_t at = 0; at < schedule.jobs.size(); ++at) {
    const sim::JobResult result = schedule.jobs[at];
    if (result.preemptions > 0) ++made.stopped_jobs;
    if (result.phase != policy::Phase::ended) continue;
    const trace::Job& job = input.trace().jobs[at];
    const Duration completion = result.end - sim::joined(job.request, result);
    jct.push_back(seconds(completion));
    wait.push_back(seconds(completion - result.ran));
    made.held_gpu_s += job.request.gpus * seconds(result.ran);
    made.restart_gpu_s += job.request.gpus * beyond_the_log_s(schedule, at, job, result);
  }
  for (const auto& [job, reason] : schedule.never) made.never.push_back(job);
  made.jct_s = at_percentiles(jct);
  made.wait_s = at_percentiles(wait);
  for (std::size_t by = 0; by < kNumGroupings; ++by) {
    made.totals[by] = totals_of(input.by(static_cast<By>(by)), input.trace(), schedule);
  }
  made.days = waits_by_day(input, schedule);
  made.timeline = timeline_of(policy, schedule, plan.timeline_bins);
  made.occupancy = occupancy_of(input, policy, schedule, plan.occupancy);
  made.gantt = {policy, gantt_of(input, plan.windows, schedule, plan.gantt)};
  made.rates = rates_of(input, schedule);
  made.dues = experiment::judge(input.trace(), input.cluster(), schedule);
  return made;
}

}  // namespace almanac::report
