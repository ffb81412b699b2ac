// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/marginal_gain.h"

#include <algorithm>

namespace almanac::elastic {
namespace {

/// Returns the seconds by which one GPU more than `gpus` shortens the job's remaining time.
double gain(const GainSeeker& job, int gpus) {
  if (gpus == 0 || gpus >= job.most_gpus) return 0;
  const auto now = job.step_s(gpus);
  const auto next = job.step_s(gpus + 1);
  return now && next ? (*now - *next) * job.steps_left : 0;
}

}  // namespace

std::vector<int> deal_by_gain(std::span<const GainSeeker> jobs, int gpus) {
  std::vector<int> given(jobs.size(), 0);
  for (int& each : given) {
    if (gpus == 0) break;
    each = 1;
    --gpus;
  }
  if (gpus == 0) return given;
  std::vector<double> gains;
  for (std::size_t job = 0; job < jobs.size(); ++job) gains.push_back(gain(jobs[job], given[job]));
  for (; gpus > 0; --gpus) {
    const auto best = std::max_element(gains.begin(), gains.end());
    if (best == gains.end() || *best <= 0) break;
    const auto job = static_cast<std::size_t>(best - gains.begin());
    *best = gain(jobs[job], ++given[job]);
  }
  return given;
}

}  // namespace almanac::elastic
