// SPDX-License-Identifier: Apache-2.0
#include "trace/validate.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "trace/eligible.h"

namespace almanac::trace {
namespace {

// Logs round start, end and duration each on its own.
constexpr Duration kRounding = 2s;
// Slurm gives a job some time between the limit and the kill.
constexpr Duration kGrace = 10min;

// A longer run is a wrong cell or another unit, whatever the log covers.
constexpr Duration kLongestRun = 24h * 365;
// So is a run of that many times the period in which jobs were submitted, unless it is short.
constexpr int kLongestInSpans = 100;
constexpr Duration kShortRun = 24h * 30;

bool has(Time time) { return time != kNoTime; }

struct Check {
  const char* what;
  bool (*is_odd)(const Job&);
};

constexpr Check kChecks[] = {
    {"the start comes before the submission",
     [](const Job& job) {
       return has(job.outcome.start) && job.outcome.start < job.request.submit;
     }},
    {"the run time is not end minus start",
     [](const Job& job) {
       const Outcome& o = job.outcome;
       return has(o.start) && has(o.end) && std::chrono::abs(o.end - o.start - o.run) > kRounding;
     }},
    {"the run time is longer than the time limit",
     [](const Job& job) {
       return job.request.time_limit != kNoDuration &&
              job.outcome.run > job.request.time_limit + kGrace;
     }},
    {"a GPU job ran for 0 s",
     [](const Job& job) {
       return job.request.gpus > 0 && job.outcome.run == Duration::zero() && !never_ran(job);
     }},
    {"a job on fewer GPUs than nodes",
     [](const Job& job) { return job.request.gpus > 0 && job.request.nodes > job.request.gpus; }},
    {"a fraction of a GPU requested more than once",
     [](const Job& job) { return job.request.gpu_share < 1 && job.request.gpus > 1; }},
    {"the deadline comes before the submission",
     [](const Job& job) {
       return has(job.request.deadline) && job.request.deadline < job.request.submit;
     }},
    {"a value without a deadline",
     [](const Job& job) { return !has(job.request.deadline) && !std::isnan(job.request.value); }},
    {"may run on more GPUs than its batch has samples",
     [](const Job& job) {
       return job.request.batch > 0 && job.request.max_gpus > job.request.batch;
     }},
};

void count(std::vector<Finding>& findings, const Trace& trace, const char* what, auto is_odd) {
  Finding finding{what, 0, {}};
  for (const Job& job : trace.jobs) {
    if (is_odd(job) && finding.jobs++ == 0) finding.first_job = trace.id(job.id);
  }
  if (finding.jobs > 0) findings.push_back(std::move(finding));
}

}  // namespace

std::vector<Finding> find_oddities(const Trace& trace) {
  std::vector<Finding> findings;
  for (const Check& check : kChecks) count(findings, trace, check.what, check.is_odd);

  Duration span{0};
  if (!trace.jobs.empty())
    span = trace.jobs.back().request.submit - trace.jobs.front().request.submit;
  const Duration longest =
      std::clamp(span, kShortRun / kLongestInSpans, kLongestRun / kLongestInSpans) *
      kLongestInSpans;
  count(findings, trace,
        "the run time is longer than a year, or than 100 times the log (is it in seconds?)",
        [&](const Job& job) { return job.outcome.run > longest; });

  std::unordered_set<std::uint64_t> ids;
  bool any_after = false;
  for (const Job& job : trace.jobs) any_after |= job.request.after != kNoJobKey;
  if (any_after) {
    for (const Job& job : trace.jobs) ids.insert(static_cast<std::uint64_t>(job.id));
    count(findings, trace, "waits for a job (`after`) that the trace does not have",
          [&](const Job& job) {
            return job.request.after != kNoJobKey &&
                   !ids.contains(static_cast<std::uint64_t>(job.request.after));
          });
  }
  return findings;
}

}  // namespace almanac::trace
