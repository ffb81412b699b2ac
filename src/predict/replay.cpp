// SPDX-License-Identifier: Apache-2.0
#include "predict/replay.h"

#include <algorithm>

namespace almanac::predict {

Time known_at(const trace::Job& job) {
  const trace::Outcome& outcome = job.outcome;
  if (outcome.end != kNoTime) return std::max(outcome.end, job.request.submit);
  const Time start = outcome.start != kNoTime ? outcome.start : job.request.submit;
  const Duration held = outcome.span != kNoDuration ? outcome.span : outcome.run;
  return std::max(start + std::max(held, outcome.run), job.request.submit);
}

Replay::Replay(std::span<const trace::Job> jobs) : jobs_(jobs) {
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (jobs[at].request.gpus == 0) continue;
    ends_.push_back({known_at(jobs[at]), static_cast<std::uint32_t>(at)});
  }
  std::stable_sort(ends_.begin(), ends_.end(),
                   [](const End& a, const End& b) { return a.at < b.at; });
}

}  // namespace almanac::predict
