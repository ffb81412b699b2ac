// SPDX-License-Identifier: Apache-2.0
#include "forecast/forecaster.h"

#include <algorithm>
#include <utility>

#include "experiment/profile.h"
#include "predict/pooled.h"

namespace almanac::forecast {

using policy::EventKind;

Forecaster::Forecaster(const Setting& setting, std::unique_ptr<predict::Estimator> likely,
                       std::unique_ptr<predict::Estimator> own, std::set<JobId> asked,
                       const Options& options)
    : setting_(setting),
      known_(setting.trace, std::move(likely), std::move(own)),
      asked_(std::move(asked)),
      options_(options) {}

void Forecaster::hear(Time now, std::span<const policy::Event> events, const schedule::Round& round,
                      const policy::Telemetry* telemetry) {
  known_.hear(events, round);
  for (const policy::Event& event : events) {
    const JobId job{event.subject};
    if (event.kind != EventKind::job_arrived || asked_.erase(job) == 0) continue;
    tell(now, job, round, telemetry);
  }
  if (asked_.empty()) done_ = true;
}

void Forecaster::throttled(Time now, JobId task, const schedule::Round& round,
                           const policy::Telemetry* telemetry) {
  if (asked_.erase(task) > 0) tell(now, task, round, telemetry);
  if (asked_.empty()) done_ = true;
}

void Forecaster::tell(Time now, JobId job, const schedule::Round& round,
                      const policy::Telemetry* telemetry) {
  sim::Present present =
      sim::present_of(round, setting_.cluster, setting_.trace.jobs.size(), telemetry, now, pauses_);
  present.throttled = sim::throttled_tasks(round, setting_.trace, now);
  known_.expect(present.throttled);
  present.past_use = known_.used_by(present, round);
  Forecast made =
      play_futures(setting_, present, known_.beliefs(), job, options_.futures, options_.seed);
  std::vector<OtherGpus> others;
  if (options_.other_gpus) {
    others = with_other_gpus(setting_, setting_.options.truth.speeds, present, known_.beliefs(),
                             job, options_.futures, options_.seed);
  }
  told_.push_back({job, std::move(made), std::move(present), std::move(others)});
  if (options_.num_told != nullptr) ++*options_.num_told;
}

Setting setting_of(const experiment::Prepared& prepared, std::size_t run) {
  return {.trace = prepared.trace,
          .cluster = prepared.cluster,
          .composition = prepared.runs[run].composition,
          .options = experiment::options_of(prepared, run),
          .site = prepared.runs[run].site,
          .queues = prepared.runs[run].queues};
}

std::unique_ptr<predict::Estimator> likely_of(const experiment::Prepared& prepared) {
  const Names& names = prepared.trace.names;
  return std::make_unique<predict::Pooled>(
      names, prepared.model ? predict::Learned(names, prepared.model) : predict::Learned(names));
}

Result<std::vector<Told>> tell(const experiment::Prepared& prepared, std::size_t run,
                               std::set<JobId> asked, const Options& options) {
  const policy::Composition& composition = prepared.runs[run].composition;
  auto own = experiment::make_estimator(composition, prepared.trace, prepared.model);
  if (!own) return tl::unexpected(own.error());
  const Setting setting = setting_of(prepared, run);
  sim::Options playing = setting.options;
  Forecaster forecaster(setting, likely_of(prepared), std::move(*own), std::move(asked), options);
  auto policy = experiment::make_policy(prepared.runs[run], prepared.trace, prepared.model);
  if (!policy) return tl::unexpected(policy.error());
  playing.watch.listener = &forecaster;
  playing.watch.stop = &forecaster.done();
  sim::simulate(prepared.trace, prepared.cluster, **policy, playing);
  return forecaster.told();
}

}  // namespace almanac::forecast
