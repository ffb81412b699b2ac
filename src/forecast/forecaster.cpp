// SPDX-License-Identifier: Apache-2.0
#include "forecast/forecaster.h"

#include <algorithm>
#include <utility>

#include "experiment/profile.h"
#include "predict/pooled.h"
#include "schedule/past_use.h"
#include "trace/eligible.h"

namespace almanac::forecast {

using policy::EventKind;

Forecaster::Forecaster(const Setting& setting, std::unique_ptr<predict::Estimator> likely,
                       std::unique_ptr<predict::Estimator> own, std::set<JobId> asked,
                       const Options& options)
    : setting_(setting),
      likely_(std::move(likely)),
      own_(std::move(own)),
      asked_(std::move(asked)),
      options_(options) {}

void Forecaster::take_note(const policy::Event& event, const schedule::Round& round) {
  const JobId job{event.subject};
  if (event.kind != EventKind::job_ended && event.kind != EventKind::job_arrived) return;
  const trace::Job& known = setting_.trace.jobs[index(job)];
  if (event.kind == EventKind::job_arrived) {
    Belief belief{.likely = likely_->estimate(job, known.request),
                  .own = own_->estimate(job, known.request)};
    if (known.request.time_limit != kNoDuration) belief.most = known.request.time_limit;
    beliefs_.insert_or_assign(job, std::move(belief));
    return;
  }
  if (trace::never_ran(known)) return;  // how long it would have run is not known
  const policy::Progress& state = round.progress(job);
  const predict::Ended ended{.at = state.end,
                             .ran = std::max(Duration{0}, state.attained - state.charged),
                             .state = known.outcome.state};
  likely_->learn(job, known.request, ended);
  own_->learn(job, known.request, ended);
  beliefs_.erase(job);
  schedule::add_past_use(known.request, state.tenant, state.start, state.end, state.attained,
                         used_);
}

std::shared_ptr<const std::vector<policy::PastUse>> Forecaster::used_by(
    const sim::Present& present, const schedule::Round& round) const {
  auto used = std::make_shared<std::vector<policy::PastUse>>(used_);
  for (const auto* const jobs : {&present.running, &present.waiting}) {
    for (const sim::Present::Job& each : *jobs) {
      const bool runs = jobs == &present.running;
      const Time until = runs ? present.at : each.past.since;
      const Duration ran = each.past.attained + (runs ? until - each.past.since : Duration{0});
      schedule::add_past_use(setting_.trace.jobs[index(each.job)].request,
                             round.progress(each.job).tenant, each.past.start, until, ran, *used);
    }
  }
  return used;
}

void Forecaster::hear(Time now, std::span<const policy::Event> events, const schedule::Round& round,
                      const policy::Telemetry* telemetry) {
  for (const policy::Event& event : events) take_note(event, round);
  for (const policy::Event& event : events) {
    const JobId job{event.subject};
    if (event.kind != EventKind::job_arrived || asked_.erase(job) == 0) continue;
    sim::Present present =
        sim::present_of(round, setting_.cluster, setting_.trace.jobs.size(), telemetry, now);
    present.past_use = used_by(present, round);
    Forecast made = play_futures(setting_, present, beliefs_, job, options_.futures, options_.seed);
    std::vector<OtherGpus> others;
    if (options_.other_gpus) {
      others = with_other_gpus(setting_, setting_.options.truth.speeds, present, beliefs_, job,
                               options_.futures, options_.seed);
    }
    told_.push_back({job, std::move(made), std::move(present), std::move(others)});
    if (options_.num_told != nullptr) ++*options_.num_told;
  }
  if (asked_.empty()) done_ = true;
}

Result<std::vector<Told>> tell(const experiment::Prepared& prepared, std::size_t run,
                               std::set<JobId> asked, const Options& options) {
  const policy::Composition& composition = prepared.runs[run].composition;
  auto own = experiment::make_estimator(composition, prepared.trace, prepared.model);
  if (!own) return tl::unexpected(own.error());
  sim::Options playing = experiment::options_of(prepared, run);
  const Setting setting{.trace = prepared.trace,
                        .cluster = prepared.cluster,
                        .composition = composition,
                        .options = playing,
                        .site = prepared.runs[run].site,
                        .queues = prepared.runs[run].queues};
  const Names& names = prepared.trace.names;
  auto likely = std::make_unique<predict::Pooled>(
      names, prepared.model ? predict::Learned(names, prepared.model) : predict::Learned(names));
  Forecaster forecaster(setting, std::move(likely), std::move(*own), std::move(asked), options);
  auto policy = experiment::make_policy(prepared.runs[run], prepared.trace, prepared.model);
  if (!policy) return tl::unexpected(policy.error());
  playing.watch.listener = &forecaster;
  playing.watch.stop = &forecaster.done();
  sim::simulate(prepared.trace, prepared.cluster, **policy, playing);
  return forecaster.told();
}

}  // namespace almanac::forecast
