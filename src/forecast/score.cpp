// SPDX-License-Identifier: Apache-2.0
#include "forecast/score.h"

#include <cmath>

#include "experiment/profile.h"

namespace almanac::forecast {
Score score(std::span<const Told> told, std::span<const sim::JobResult> truth) {
  Score made;
  int started = 0;
  for (std::size_t at = 0; at < told.size(); ++at) {
    const Forecast& said = told[at].forecast;
    const Time start = or_never(truth[at].start);
    const Time end = or_never(truth[at].end);
    made.start.count(said.start(kSaid), start);
    made.end.count(said.end(kSaid), end);
    made.ended_by += end <= said.ended_by(kSaid) ? 1 : 0;
    const Time middle = said.started_by(0.5);
    if (start == kNever || middle == kNever) continue;
    made.mean_start_off_s += std::abs(seconds(start - middle));
    ++started;
  }
  if (started > 0) made.mean_start_off_s /= started;
  return made;
}

std::vector<sim::JobResult> as_it_was(const sim::Schedule& schedule, std::span<const Told> told) {
  std::vector<sim::JobResult> results;
  for (const Told& each : told) results.push_back(schedule.jobs[index(each.job)]);
  return results;
}

std::vector<sim::JobResult> had_nobody_come(const experiment::Prepared& prepared, std::size_t run,
                                            std::span<const Told> told) {
  std::vector<sim::JobResult> results;
  for (const Told& each : told) {
    sim::Options options = experiment::options_of(prepared, run);
    options.range.from = &each.present;
    options.range.last_arrival = each.present.at;
    options.range.until_ended = each.job;
    const auto policy = experiment::make_policy(prepared.runs[run], prepared.trace, prepared.model);
    results.push_back(
        sim::simulate(prepared.trace, prepared.cluster, **policy, options).jobs[index(each.job)]);
  }
  return results;
}

std::vector<Told> of_other_gpus(std::span<const Told> told) {
  std::vector<Told> made;
  for (const Told& each : told) {
    for (const OtherGpus& other : each.other_gpus) made.push_back({each.job, other.forecast, {}});
  }
  return made;
}

std::vector<sim::JobResult> had_asked_other_gpus(const experiment::Prepared& prepared,
                                                 std::size_t run, std::span<const Told> told) {
  std::vector<Duration> runs;
  for (const trace::Job& job : prepared.trace.jobs) runs.push_back(job.outcome.run);
  std::vector<sim::JobResult> results;
  for (const Told& each : told) {
    for (const OtherGpus& other : each.other_gpus) {
      trace::Trace trace = asking(prepared.trace, each.job, other.gpus);
      // The engine knows how fast it is with so many; the estimator is to believe the same.
      const double rate = rate_with(*prepared.speeds, prepared.cluster, each.job, other.gpus);
      Duration& believed = trace.jobs[index(each.job)].outcome.run;
      believed = Duration{std::llround(static_cast<double>(believed.count()) / rate)};
      sim::Options options = experiment::options_of(prepared, run);
      options.range.from = &each.present;
      options.truth.run_times = &runs;
      options.range.last_arrival = each.present.at;
      options.range.until_ended = each.job;
      const auto policy = experiment::make_policy(prepared.runs[run], trace, prepared.model);
      results.push_back(
          sim::simulate(trace, prepared.cluster, **policy, options).jobs[index(each.job)]);
    }
  }
  return results;
}

}  // namespace almanac::forecast
