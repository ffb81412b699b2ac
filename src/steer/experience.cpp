// SPDX-License-Identifier: Apache-2.0
#include "steer/experience.h"

#include <algorithm>
#include <utility>

#include "policy/registry.h"
#include "schedule/past_use.h"
#include "steer/record.h"
#include "steer/shards.h"
#include "steer/tenants.h"

namespace almanac::steer {

Experience::Experience(const policy::Composition& policy, trace::Trace lessons)
    : lets_share_(policy::registry().traits(policy).has(policy::Trait::shares_gpus)),
      reads_past_use_(!policy.whole.name.empty()),  // slots have no policy::Host
      log_(std::move(lessons)),
      beliefs_(policy, log_) {
  for (const trace::Job& job : log_.jobs) {
    schedule::add_past_use(job.request, kNoTenant, job.outcome.start, job.outcome.end,
                           job.outcome.run, learned_use_);
    type_speeds_->learn(job, log_.names);
  }
  log_.jobs = {};
}

trace::Request Experience::request_of(const manager::Job& job, const World& world) {
  trace::Request made = to_request(job, world, log_.names);
  if (lets_share_ && asks_shards(job) && made.gpus > 0) {
    made.gpus = std::max(made.gpus, job.nodes);
    made.gpu_share = 1;
  }
  return made;
}

schedule::PastUses Experience::past_use(const Mirror& mirror, const World& world) {
  if (!reads_past_use_) return nullptr;
  if (!world.tenants.empty()) {
    return std::make_shared<const std::vector<policy::PastUse>>(
        past_use_of(mirror.associations(), world.tenants, mirror.at()));
  }
  auto made = std::make_shared<std::vector<policy::PastUse>>(learned_use_);
  for (const manager::Job* const job : running_jobs(mirror)) {
    if (job->start == kNoTime) continue;
    schedule::add_past_use(request_of(*job, world), kNoTenant, job->start, mirror.at(),
                           mirror.at() - job->start, *made);
  }
  return made;
}

void Experience::learn(const manager::Job& ended, const World& world) {
  if (ended.start == kNoTime || ended.end == kNoTime || ended.end < ended.start) {
    return beliefs_.forget(ended.number);
  }
  ++learned_;
  trace::Job lesson;
  lesson.request = request_of(ended, world);
  lesson.outcome.run = ended.end - ended.start;
  lesson.outcome.state = ended.outcome;
  schedule::add_past_use(lesson.request, kNoTenant, ended.start, ended.end, lesson.outcome.run,
                         learned_use_);
  type_speeds_->learn(lesson, log_.names);
  beliefs_.learn(ended.number, lesson.request,
                 {.at = ended.end, .ran = lesson.outcome.run, .state = ended.outcome});
}

}  // namespace almanac::steer
