// SPDX-License-Identifier: Apache-2.0
#include "steer/slimming_round.h"

#include <algorithm>
#include <utility>

#include "schedule/hosts.h"
#include "steer/aside.h"
#include "steer/planned_round.h"
#include "steer/record.h"

namespace almanac::steer {
namespace {

std::uint32_t subject_of(JobId job) { return static_cast<std::uint32_t>(index(job)); }

}  // namespace

SlimmingRound::SlimmingRound(const Slimming& policy, std::shared_ptr<const World> world,
                             double bandwidth_gbs, const policy::Telemetry& telemetry)
    : world_(std::move(world)), cluster_(world_->cluster) {
  for (cluster::NodeClass& make : cluster_.classes) make.bandwidth_gbs = bandwidth_gbs;
  mind_ = schedule::make_policy(policy.composition,
                                schedule::RealHost{.estimator = nullptr,
                                                   .past_use = nullptr,
                                                   .past_reports = {},
                                                   .type_speeds = nullptr,
                                                   .may_share = {},
                                                   .is_on = {},
                                                   .site = {}},
                                schedule::kNoSiteRules);
  round_ = std::make_unique<schedule::Round>(cluster_, trace_, *mind_, *this, kNoRestartCost, 0,
                                             policy.composition.name);
  round_->observe(nullptr, &telemetry);
}

SlimmingRound::~SlimmingRound() = default;

JobId SlimmingRound::adopt(const manager::Job& job, std::span<const cluster::Grant> held,
                           Time now) {
  // Without its name: what other jobs of that name came to need is no reason to give it more.
  manager::Job nobodys = job;
  nobodys.name.clear();
  nobodys.user.clear();
  const JobId id{static_cast<std::uint32_t>(trace_.jobs.size())};
  trace::Job& record = trace_.jobs.emplace_back();
  record.id = trace::JobKey{static_cast<std::uint64_t>(job.number)};
  record.request = to_request(nobodys, *world_, trace_.names);
  // The job's virtual cluster is that of its nodes, whatever partition it names.
  record.request.vc = trace_.names.intern(owner_of_nodes(job, *world_));
  numbers_.push_back(job.number);
  const Time since = job.start == kNoTime ? now : std::min(job.start, now);
  if (round_->adopt(id, held, {.since = since, .start = since})) return kNoJob;
  events_.push_back({policy::EventKind::job_adopted, subject_of(id)});
  return id;
}

void SlimmingRound::end(JobId job, Time now) {
  round_->end(now, job);
  events_.push_back({policy::EventKind::job_ended, subject_of(job)});
}

void SlimmingRound::decide(Time now) {
  // In the order in which events of one instant are told.
  std::stable_sort(events_.begin(), events_.end(),
                   [](const auto& a, const auto& b) { return a.kind < b.kind; });
  while (true) {
    events_.push_back({policy::EventKind::timer, 0});
    round_->run(now, std::exchange(events_, {}));
    const auto wakes = round_->wakes();
    if (std::none_of(wakes.begin(), wakes.end(), [&](Time at) { return at <= now; })) return;
  }
}

}  // namespace almanac::steer
