// SPDX-License-Identifier: Apache-2.0
#include "faults/job_faults.h"

#include <cmath>

namespace almanac::faults {
namespace {

/// Streams of jobs; those of nodes are even (node_faults.cpp).
std::uint64_t stream_of(JobId job) { return 2 * std::uint64_t{index(job)} + 1; }

}  // namespace

JobFaults::JobFaults(const Model& model, std::uint64_t seed, std::size_t num_jobs)
    : model_(model), seed_(seed), any_(model.job_per_day(1) > 0) {
  if (any_) jobs_.resize(num_jobs);
}

void JobFaults::draw(Job& state, int gpus, Duration after) {
  const double gap_ms = state.rng.exponential() * kDay_ms / model_.job_per_day(gpus);
  state.at = gap_ms > kEndless_ms ? Duration::max() : after + Duration{1 + std::llround(gap_ms)};
}

std::optional<Duration> JobFaults::next(JobId job, int gpus, Duration attained) {
  if (!any_ || model_.job_per_day(gpus) <= 0) return std::nullopt;
  Job& state = jobs_[index(job)];
  if (state.at == kNoDuration) {
    state.rng = Rng(seed_, stream_of(job));
    draw(state, gpus, Duration{0});
  }
  // A job on other numbers of GPUs may have passed it.
  while (state.at <= attained) draw(state, gpus, attained);
  if (state.at == Duration::max()) return std::nullopt;
  return state.at;
}

std::uint16_t JobFaults::take(JobId job, int gpus) {
  Job& state = jobs_[index(job)];
  double left = state.rng.uniform() * model_.job_per_day(gpus);
  std::uint16_t last = 0;
  for (std::size_t at = 0; at < model_.causes.size(); ++at) {
    const Cause& cause = model_.causes[at];
    if (cause.unit != Unit::software && cause.unit != Unit::user) continue;
    last = static_cast<std::uint16_t>(at);
    left -= cause.unit == Unit::software ? gpus * cause.per_day : cause.per_day;
    if (left < 0) break;
  }
  draw(state, gpus, state.at);
  return last;
}

}  // namespace almanac::faults
