// SPDX-License-Identifier: Apache-2.0
#include "predict/replay.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/eligible.h"

namespace almanac::predict {
namespace {

/// A job that never ran says nothing of how long such jobs run.
bool is_told(const trace::Job& job) { return job.request.gpus > 0 && !trace::never_ran(job); }

}  // namespace

Time known_at(const trace::Job& job) {
  const trace::Outcome& outcome = job.outcome;
  if (outcome.end != kNoTime) return std::max(outcome.end, job.request.submit);
  const Time start = outcome.start != kNoTime ? outcome.start : job.request.submit;
  const Duration held = outcome.span != kNoDuration ? outcome.span : outcome.run;
  return std::max(start + std::max(held, outcome.run), job.request.submit);
}

void replay(std::span<const trace::Job> jobs, const OnSubmit& on_submit, const OnEnd& on_end,
            Time until) {
  struct End {
    Time at{};
    std::uint32_t job = 0;
  };
  std::vector<End> ends;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (!is_told(jobs[at]) || jobs[at].request.submit >= until) continue;
    ends.push_back({known_at(jobs[at]), static_cast<std::uint32_t>(at)});
  }
  std::stable_sort(ends.begin(), ends.end(),
                   [](const End& a, const End& b) { return a.at < b.at; });

  std::size_t next = 0;
  const auto tell_ends = [&](Time before) {
    for (; next < ends.size() && ends[next].at < before; ++next) {
      const trace::Job& job = jobs[ends[next].job];
      on_end(JobId{ends[next].job}, job.request,
             {.at = ends[next].at, .ran = job.outcome.run, .state = job.outcome.state});
    }
  };
  for (std::size_t at = 0; at < jobs.size() && jobs[at].request.submit < until; ++at) {
    const trace::Request& request = jobs[at].request;
    if (!is_told(jobs[at])) continue;
    tell_ends(request.submit);
    on_submit(JobId{static_cast<std::uint32_t>(at)}, request);
  }
  tell_ends(until);
}

void teach(Estimator& pupil, std::span<const trace::Job> jobs) {
  replay(
      jobs, [&](JobId job, const trace::Request& request) { pupil.watch(job, request); },
      [&](JobId job, const trace::Request& request, const Ended& ended) {
        pupil.learn(job, request, ended);
      });
}

}  // namespace almanac::predict
