// SPDX-License-Identifier: Apache-2.0
#include "forecast/judgement.h"

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "experiment/dues.h"
#include "trace/eligible.h"

namespace almanac::forecast {
namespace {

/// Some of the jobs that were simulated, drawn without looking at what became of them.
std::set<JobId> draw_jobs(const experiment::Prepared& prepared, int count, std::uint64_t seed) {
  std::vector<JobId> all;
  for (std::uint32_t job = 0; job < prepared.trace.jobs.size(); ++job) {
    const trace::Job& each = prepared.trace.jobs[job];
    const bool counts =
        sim::is_simulated(each.request, prepared.cluster) && !trace::never_ran(each);
    if (counts) all.push_back(JobId{job});
  }
  std::set<JobId> drawn;
  Rng rng(seed);
  const auto wanted = std::min(all.size(), static_cast<std::size_t>(count));
  while (drawn.size() < wanted) drawn.insert(all[rng.below(all.size())]);
  return drawn;
}

/// Forecasts and truths of those jobs of which `chosen(at)` holds.
template <typename Chosen>
Score score_some(const std::vector<Told>& told, const std::vector<sim::JobResult>& truth,
                 Chosen&& chosen) {
  std::vector<Told> some;
  std::vector<sim::JobResult> theirs;
  for (std::size_t at = 0; at < told.size(); ++at) {
    if (!chosen(at)) continue;
    some.push_back(told[at]);
    theirs.push_back(truth[at]);
  }
  return score(some, theirs);
}

}  // namespace

Result<Judgement> judge(const experiment::Prepared& prepared, std::size_t run, int count,
                        const Options& options) {
  const auto asked = draw_jobs(prepared, count, options.seed);
  const auto told = tell(prepared, run, asked, options);
  if (!told) return tl::unexpected(told.error());
  const auto schedule = experiment::simulate_run(prepared, run);
  if (!schedule) return tl::unexpected(schedule.error());
  const auto was = as_it_was(*schedule, *told);
  const auto alone = had_nobody_come(prepared, run, *told);
  const auto waited = [&](std::size_t at) { return was[at].start != (*told)[at].forecast.at(); };
  Judgement made{.policy = prepared.runs[run].composition.name, .jobs = told->size(), .parts = {}};
  for (std::size_t at = 0; at < told->size(); ++at) made.waited += waited(at) ? 1 : 0;
  made.parts = {{"all jobs, as they ran", score(*told, was)},
                {"all jobs, without later arrivals", score(*told, alone)},
                {"jobs that waited, as they ran", score_some(*told, was, waited)},
                {"jobs that waited, without later arrivals", score_some(*told, alone, waited)}};
  if (options.other_gpus) {
    const auto others = of_other_gpus(*told);
    const auto had = had_asked_other_gpus(prepared, run, *told);
    made.parts.push_back({"other numbers of GPUs, without later arrivals", score(others, had)});
  }
  experiment::add_dues(made.fairness,
                       experiment::judge(prepared.trace, prepared.cluster, *schedule));
  return made;
}

}  // namespace almanac::forecast
