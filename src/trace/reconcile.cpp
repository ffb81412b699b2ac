// SPDX-License-Identifier: Apache-2.0
#include "trace/reconcile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/eligible.h"

namespace almanac::trace {
namespace {

// Logs round submission, start, end and duration each on its own.
constexpr Duration kClockRounding = 2s;
/// From this share of the jobs on, what is odd is the log's rule.
constexpr double kRule = 0.9;
/// From this share on it is worth a note.
constexpr double kNotable = 0.05;
/// A job may have fewer GPUs than nodes; so many of them are a wrong column.
constexpr double kFewGpus = 0.01;

bool is_near(Duration a, Duration b) { return std::chrono::abs(a - b) <= kClockRounding; }

bool has_times(const Job& job) {
  return job.outcome.start != kNoTime && job.outcome.end != kNoTime;
}

Duration held(const Job& job) { return job.outcome.end - job.outcome.start; }

/// Jobs for which something holds, and the first of them.
struct Counted {
  std::int64_t jobs = 0;
  std::size_t first = 0;

  void add(std::size_t job) {
    if (jobs++ == 0) first = job;
  }
  bool is_part_of(std::int64_t all, double share) const {
    return jobs > 0 && static_cast<double>(jobs) >= share * static_cast<double>(all);
  }
};

/// "3 of 10 jobs, the first is 17".
std::string spelled(const Counted& counted, std::int64_t all, const Trace& trace) {
  return fmt::format("{} of {} jobs, the first is {}", counted.jobs, all,
                     trace.id(trace.jobs[counted.first].id));
}

void use_end_minus_start(Trace& trace) {
  for (Job& job : trace.jobs) {
    if (has_times(job) && !is_near(job.outcome.run, held(job))) job.outcome.run = held(job);
  }
}

/// In what unit the run times would be end minus start; "" = in none.
std::string other_unit(const Trace& trace, std::int64_t all) {
  constexpr std::array<std::pair<double, const char*>, 5> kUnits{{{60, "minutes"},
                                                                  {3600, "hours"},
                                                                  {86400, "days"},
                                                                  {1e-3, "milliseconds"},
                                                                  {1e-6, "microseconds"}}};
  for (const auto& [factor, name] : kUnits) {
    std::int64_t fitting = 0;
    for (const Job& job : trace.jobs) {
      if (!has_times(job)) continue;
      const double off = std::abs(factor * seconds(job.outcome.run) - seconds(held(job)));
      fitting += off <= std::max(factor, seconds(kClockRounding)) ? 1 : 0;
    }
    if (static_cast<double>(fitting) >= kRule * static_cast<double>(all)) return name;
  }
  return {};
}

void check_run_times(Trace& trace, RunTimes run_times) {
  Counted off, from_submission;
  std::int64_t all = 0, telling = 0;
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const Job& job = trace.jobs[at];
    if (!has_times(job)) continue;
    ++all;
    const bool is_off = !is_near(job.outcome.run, held(job));
    if (is_off) off.add(at);
    const Duration wait = job.outcome.start - submission(job.request);
    if (wait <= kClockRounding) continue;
    ++telling;
    if (is_off && is_near(job.outcome.run, job.outcome.end - submission(job.request))) {
      from_submission.add(at);
    }
  }
  if (from_submission.is_part_of(telling, kRule)) {
    trace.notes.push_back(
        fmt::format("the log counts run times from submission, including the wait; end minus start "
                    "is used instead: {}",
                    spelled(from_submission, all, trace)));
    use_end_minus_start(trace);
    return;
  }
  if (run_times != RunTimes::recorded || all < 2) return;
  constexpr double kMost = 0.5;
  if (off.is_part_of(all, kMost)) {
    const std::string unit = other_unit(trace, all);
    trace.notes.push_back(fmt::format(
        "the run time in the log is not end minus start{}; end minus start is used instead: {}",
        unit.empty() ? "" : fmt::format(" (it may count {})", unit), spelled(off, all, trace)));
    use_end_minus_start(trace);
  } else if (off.is_part_of(all, kNotable)) {
    trace.notes.push_back(
        fmt::format("the run time is not end minus start, and is used as in the log: {}",
                    spelled(off, all, trace)));
  }
}

void check_waits(Trace& trace) {
  constexpr std::int64_t kSome = 20;
  constexpr Duration kLong = 1h;
  Counted early;
  std::int64_t all = 0;
  Duration least = Duration::max();
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const Job& job = trace.jobs[at];
    if (job.outcome.start == kNoTime) continue;
    ++all;
    const Duration wait = job.outcome.start - submission(job.request);
    if (wait < -kClockRounding) early.add(at);
    least = std::min(least, wait);
  }
  if (early.is_part_of(all, kNotable)) {
    trace.notes.push_back(fmt::format(
        "the start comes before the submission, as if their clocks were in two time zones: {}",
        spelled(early, all, trace)));
  } else if (all >= kSome && least >= kLong) {
    trace.notes.push_back(
        fmt::format("every job waits at least {:.1f} h, as if submission and start were in two "
                    "time zones: {} jobs",
                    seconds(least) / 3600, all));
  }
}

void check_gpus_and_nodes(Trace& trace) {
  Counted fewer;
  std::int64_t all = 0;
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const Request& request = trace.jobs[at].request;
    if (request.gpus == 0) continue;
    ++all;
    if (request.nodes > request.gpus) fewer.add(at);
  }
  if (fewer.is_part_of(all, kFewGpus)) {
    trace.notes.push_back(
        fmt::format("fewer GPUs than nodes, as if the log counted GPUs per node: {}; a column map "
                    "multiplies columns: gpus = {{column = \"...\", times = \"...\"}}",
                    spelled(fewer, all, trace)));
  }
}

}  // namespace

void reconcile(Trace& trace, RunTimes run_times) {
  if (run_times == RunTimes::simulated) return;
  check_run_times(trace, run_times);
  check_waits(trace);
  check_gpus_and_nodes(trace);
}

}  // namespace almanac::trace
