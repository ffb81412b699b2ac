// SPDX-License-Identifier: Apache-2.0

/// \file
/// Completion times of every job under Optimus in Pollux's simulator, where it is told all.
///
/// Source   Peng et al., EuroSys'18; Qiao et al., OSDI'21, artifact: simulator, "Optimus+Oracle".
#include <algorithm>
#include <vector>

#include "reproduce/pollux_runs.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_optimus(Recipes& registry);

namespace {

using pollux::Job;

/// Seconds of a step on `gpus` GPUs of as few nodes as hold them. A batch on one GPU takes two
/// passes.
double step_s(const Job& job, int gpus) {
  pollux::Split split = pollux::split_batch(*job.application, job.batch, gpus);
  if (gpus == 1 && split.accumulated == 0)
    split = pollux::split_in_two(*job.application, job.batch);
  std::vector<int> placement(static_cast<std::size_t>(gpus / pollux::kGpusANode),
                             pollux::kGpusANode);
  if (gpus % pollux::kGpusANode > 0) placement.push_back(gpus % pollux::kGpusANode);
  const pollux::StepTime time = job.application->step_time(placement, split.atomic);
  return time.step_s + (time.step_s - time.sync_s) * split.accumulated;
}

/// GPUs go one by one to the job that gains the most time by one more.
void decide(double, std::span<Job* const> present) {
  int left = pollux::kGpus;
  std::vector<int> count(present.size());
  std::vector<double> gain(present.size());
  const auto gain_of = [&](std::size_t at) {
    const Job& job = *present[at];
    const int most = job.application->one_gpu ? 1 : job.batch / job.application->min_local;
    if (left == 0 || count[at] == 0 || count[at] + 1 > most) return 0.0;
    return (step_s(job, count[at]) - step_s(job, count[at] + 1)) * job.iterations_left();
  };
  for (std::size_t at = 0; at < present.size() && left > 0; ++at, --left) count[at] = 1;
  for (std::size_t at = 0; at < present.size(); ++at) gain[at] = gain_of(at);
  while (left > 0 && !gain.empty()) {
    const auto best = std::max_element(gain.begin(), gain.end());
    if (*best <= 0) break;
    const auto at = static_cast<std::size_t>(best - gain.begin());
    ++count[at];
    --left;
    gain[at] = gain_of(at);
  }
  std::vector<std::size_t> order;
  for (std::size_t at = 0; at < present.size(); ++at) {
    if (present[at]->nodes.size() == static_cast<std::size_t>(count[at])) continue;
    present[at]->nodes.clear();
    order.push_back(at);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return count[a] < count[b]; });
  std::vector<int> free = pollux::free_gpus(present);
  for (const std::size_t at : order) present[at]->nodes = pollux::take(free, count[at]);
}

}  // namespace

void register_optimus(Recipes& registry) {
  registry.add({.name = "optimus",
                .summary = "Completion times under Optimus in Pollux's simulator, job by job",
                .paper = "Peng et al., EuroSys'18; Qiao et al., OSDI'21, artifact",
                .needs = pollux::needs(),
                .make = [](Bench& bench) {
                  pollux::compare_runs(bench, "optimus", [] { return pollux::Decide(decide); });
                }});
}

}  // namespace almanac::reproduce
