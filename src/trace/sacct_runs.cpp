// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_runs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "trace/eligible.h"

namespace almanac::trace {
namespace {

// From the end of a run to the submission of the next: what slurmctld takes, and a node to be
// found dead.
constexpr Duration kSoon = 10min;
// For which a job that must run again may be held.
constexpr Duration kLongest = 24h * 30;

/// What the rows of a job count in its time: GPUs, of a job without any cores, if all tell them.
class Weights {
 public:
  explicit Weights(std::span<const Job> rows)
      : by_gpus_(std::any_of(rows.begin(), rows.end(),
                             [](const Job& job) { return job.request.gpus > 0; })),
        by_cores_(std::all_of(rows.begin(), rows.end(), [](const Job& job) {
          return std::isfinite(job.request.cpus) && job.request.cpus > 0;
        })) {}
  double operator()(const Job& job) const {
    if (by_gpus_) return job.request.gpus;
    return by_cores_ ? static_cast<double>(job.request.cpus) : 1;
  }

 private:
  bool by_gpus_;
  bool by_cores_;
};

bool has_ended(const Job& job) {
  return job.outcome.state != JobState::running && job.outcome.state != JobState::pending;
}

/// The job of rows in order of time.
Job merged(std::span<const Job> rows, bool is_resized) {
  const auto ran = [](const Job& job) { return job.outcome.run > Duration::zero(); };
  const Weights weight(rows);
  const auto counts = [&](const Job& job) { return ran(job) && weight(job) > 0; };
  const auto first = std::find_if(rows.begin(), rows.end(), counts);
  Job job = first == rows.end() ? rows.back() : *first;
  const Job& last = rows.back();
  double time_ms = 0;
  job.outcome.start = kNoTime;
  int runs = 0;
  for (const Job& row : rows) {
    time_ms += weight(row) * static_cast<double>(row.outcome.run.count());
    if (row.outcome.start != kNoTime && (ran(row) || &row == &last)) {
      if (job.outcome.start == kNoTime) job.outcome.start = row.outcome.start;
      ++runs;
    }
  }
  if (first != rows.end()) {
    constexpr double kLongest_ms = 1e15;  // as of one row
    job.outcome.run = Duration(std::llround(std::min(time_ms / weight(job), kLongest_ms)));
  }
  job.request.submit = rows.front().request.submit;
  job.request.submitted = rows.front().request.submitted;
  job.request.time_limit = last.request.time_limit;
  job.outcome.end = last.outcome.end;
  job.outcome.state = last.outcome.state;
  job.outcome.attempts = is_resized ? 0 : runs;
  if (job.outcome.start != kNoTime && job.outcome.end != kNoTime) {
    job.outcome.span = job.outcome.end - job.outcome.start;
  }
  return job;
}

}  // namespace

bool is_same_job(const SacctRun& run, const SacctRun& later) {
  if (!run.user.empty() && !later.user.empty() && run.user != later.user) return false;
  if (run.submit == later.submit) return true;
  if (run.name != later.name || run.end == kNoTime) return false;
  const Duration gap = later.submit - run.end;
  const bool must_run_again = run.state == JobState::preempted || run.state == JobState::node_fail;
  return gap >= -kSoon && gap <= (must_run_again ? kLongest : kSoon);
}

/// Whether a row tells once more, and later, of the run of the row before it.
bool SacctRuns::is_told_again(const Job& row, const Job& again) const {
  if (submission(row.request) != submission(again.request)) return false;
  if (is_resized(row)) {
    return row.outcome.start == again.outcome.start && row.outcome.run == again.outcome.run &&
           is_resized(again);
  }
  if (row.outcome.start == kNoTime && row.outcome.run == Duration::zero()) return true;
  if (row.outcome.start != again.outcome.start) return false;
  return row.outcome.start != kNoTime || !has_ended(row) || row.outcome.run == again.outcome.run;
}

void SacctRuns::conclude(Intake& intake) const {
  Trace& trace = intake.trace();
  std::vector<Job>& jobs = trace.jobs;
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto time_of = [&](std::uint32_t at) {
    const Job& job = jobs[at];
    // A row without a start is of a time when the job waited.
    return std::tuple(job.id, submission(job.request), job.outcome.start != kNoTime,
                      job.outcome.start, !is_resized(job), has_ended(job), job.outcome.run);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return time_of(a) < time_of(b); });
  const auto run_of = [&](const Job& job) {
    return SacctRun{job.request.user == kNoName ? "" : trace.names[job.request.user],
                    job.request.name == kNoName ? "" : trace.names[job.request.name],
                    submission(job.request),
                    job.outcome.start,
                    job.outcome.end,
                    job.outcome.state};
  };
  std::vector<bool> gone(jobs.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && jobs[order[end]].id == jobs[order[begin]].id) ++end;
    int jobs_of_id = 0;
    for (std::size_t at = begin, next = 0; end - begin > 1 && at < end; at = next) {
      std::vector<Job> rows{jobs[order[at]]};
      bool resized = is_resized(rows.back());
      for (next = at + 1; next < end; ++next) {
        const Job& row = jobs[order[next]];
        if (!is_same_job(run_of(rows.back()), run_of(row))) break;
        if (is_told_again(rows.back(), row)) {
          rows.back() = row;
          intake.remark("rows that repeat a run (left out)");
        } else {
          rows.push_back(row);
        }
        resized = resized || is_resized(row);
        gone[order[next]] = true;
      }
      Job& job = jobs[order[at]];
      const JobKey id = job.id;
      job = rows.size() > 1 ? merged(rows, resized) : rows.front();
      job.id = ++jobs_of_id == 1 ? id : trace.key(fmt::format("{}#{}", trace.id(id), jobs_of_id));
      if (jobs_of_id > 1) intake.remark("jobs that reuse the id of an earlier job (named ID#2)");
      if (rows.size() == 1) continue;
      intake.remark(
          resized
              ? "jobs that were resized (one job each, with the first size and the total GPU time)"
              : "jobs that ran several times (one job each, with the total GPU time)");
    }
  }
  if (std::find(gone.begin(), gone.end(), true) != gone.end()) intake.leave_out(gone);
  for (const Job& job : jobs) {
    if (job.outcome.state == JobState::running) {
      intake.remark("jobs still running (their run time so far is used)");
    } else if (job.outcome.state == JobState::pending) {
      intake.remark("jobs still pending when the log was taken (their run time is unknown)");
    }
  }
}

}  // namespace almanac::trace
