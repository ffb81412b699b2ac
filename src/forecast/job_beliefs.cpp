// SPDX-License-Identifier: Apache-2.0
#include "forecast/job_beliefs.h"

#include <algorithm>
#include <utility>

#include "schedule/past_use.h"
#include "trace/eligible.h"

namespace almanac::forecast {

using policy::EventKind;

JobBeliefs::JobBeliefs(const trace::Trace& trace, std::unique_ptr<predict::Estimator> likely,
                       std::unique_ptr<predict::Estimator> own)
    : trace_(trace), likely_(std::move(likely)), own_(std::move(own)) {}

void JobBeliefs::hear(std::span<const policy::Event> events, const schedule::Round& round) {
  for (const policy::Event& event : events) take_note(event, round);
}

void JobBeliefs::expect(std::span<const JobId> jobs) {
  for (const JobId job : jobs) believe(job);
}

void JobBeliefs::believe(JobId job) {
  const trace::Request& request = trace_.jobs[index(job)].request;
  Belief belief{.likely = likely_->estimate(job, request), .own = own_->estimate(job, request)};
  if (request.time_limit != kNoDuration) belief.most = request.time_limit;
  beliefs_.insert_or_assign(job, std::move(belief));
}

void JobBeliefs::take_note(const policy::Event& event, const schedule::Round& round) {
  const JobId job{event.subject};
  if (event.kind != EventKind::job_ended && event.kind != EventKind::job_arrived) return;
  const trace::Job& known = trace_.jobs[index(job)];
  if (event.kind == EventKind::job_arrived) {
    return believe(job);
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

std::shared_ptr<const std::vector<policy::PastUse>> JobBeliefs::used_by(
    const sim::Present& present, const schedule::Round& round) const {
  auto used = std::make_shared<std::vector<policy::PastUse>>(used_);
  for (const auto* const jobs : {&present.running, &present.waiting}) {
    for (const sim::Present::Job& each : *jobs) {
      const bool runs = jobs == &present.running;
      const Time until = runs ? present.at : each.past.since;
      const Duration ran = each.past.attained + (runs ? until - each.past.since : Duration{0});
      schedule::add_past_use(trace_.jobs[index(each.job)].request, round.progress(each.job).tenant,
                             each.past.start, until, ran, *used);
    }
  }
  return used;
}

}  // namespace almanac::forecast
