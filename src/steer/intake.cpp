// SPDX-License-Identifier: Apache-2.0
#include "steer/intake.h"

#include <algorithm>
#include <utility>

#include "steer/record.h"

namespace almanac::steer {

Intake::Intake(Known& known, Saving& saving)
    : known_(known),
      saving_(saving),
      inquest_([this](store::JobNumber job, const std::string& why) { hear_why(job, why); }) {}

bool Intake::take(manager::News news) {
  const std::lock_guard lock(known_.mutex);
  if (news.limits && !known_.site.facts.enforces_limits) news.limits->quotas.clear();
  // The first look finds jobs that started before the service did.
  const bool is_first_look = known_.mirror.at() == kNoTime;
  const Difference made = known_.mirror.take(std::move(news));
  known_.look_again = known_.look_again || made.anything;
  known_.counters.submitted += made.came;
  known_.counters.started += made.started.size();
  for (const manager::JobNumber each : made.started) {
    const manager::Job* const job = known_.mirror.find(each);
    if (job != nullptr && !is_first_look) note_wait(*job);
  }
  known_.counters.preempted += made.requeued;
  for (const manager::Job& job : made.ended) ++known_.counters.ended[job.outcome];
  const bool is_other = known_.hardware != known_.mirror.hardware();
  if (is_other) {
    known_.hardware = known_.mirror.hardware();
    known_.world = make_world(known_.mirror, known_.config.settings.virtual_clusters,
                              known_.site.facts.requeues_by_default);
    known_.look_again = true;
  }
  for (const manager::JobNumber each : known_.announced.look(known_.mirror, made.ended)) {
    known_.decider->forget(each);
  }
  known_.canary.note_ended(made.ended, *known_.world);
  for (const manager::Job& job : made.ended) note_ended(job);
  return is_other;
}

void Intake::note_wait(const manager::Job& job) {
  if (job.start == kNoTime) return;
  known_.counters.waits.add(job.partition, job.user, job.gpus,
                            job.start - std::max(job.submit, job.eligible));
}

void Intake::note_ended(const manager::Job& job) {
  known_.decider->learn(job, *known_.world);
  if (job.outcome == trace::JobState::unknown) return;
  store::Job ended = to_stored(job, *known_.world);
  if (const JobUse* const use = known_.slimmer->use(job.number)) ended.used = use->used();
  if (job.outcome == trace::JobState::failed && !job.out.empty()) inquest_.hold(ended);
  known_.taught.push_back(ended);
  saving_.add(std::move(ended));
}

void Intake::hear_why(store::JobNumber job, const std::string& why) {
  {
    const std::lock_guard lock(known_.mutex);
    saving_.note({.at = known_.mirror.at(), .job = job, .what = service::kJudged, .detail = why});
  }
  known_.bell.ring();
}

}  // namespace almanac::steer
