// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "schedule/hosts.h"
#include "steer/decider.h"

namespace almanac::steer {

using manager::JobNumber;
using policy::EventKind;
using policy::Phase;

namespace {

/// The actuator of a round in which nothing can start.
class Idle final : public schedule::Actuator {
 public:
  void start(JobId) override {}
  void stop(JobId) override {}
  void resize(JobId) override {}
  void sleep(NodeId) override {}
  void boot(NodeId) override {}
};

}  // namespace

void Decider::note_quotas(const Mirror& mirror) {
  Quotas& quotas = round_->quotas();
  if (quotas.empty()) return;
  for (const auto& [number, id] : round_->jobs().first_tasks()) {
    const manager::Job& job = *mirror.find(number);
    if (round_->round().progress(id).phase != Phase::waiting || !quotas.is_at(job)) continue;
    decision_.aside.emplace(number, Aside::at_quota);
    decision_.quotas.emplace(number, quotas.tightest(job));
  }
}

void Decider::rank_limited(const Mirror& mirror, const schedule::PastUses& past_use) {
  std::set<JobNumber> limited;
  for (const auto& [number, why] : decision_.aside) {
    const bool is_soon = why == Aside::limited || why == Aside::at_quota ||
                         why == Aside::elsewhere || why == Aside::in_vain;
    if (is_soon) limited.insert(number);
  }
  for (Decision::Line& line : decision_.lines) line.ranked = line.jobs;
  if (limited.empty()) return;

  RoundJobs& jobs = round_->jobs();
  std::vector<const manager::Job*> waiting;
  for (const JobNumber number : limited) waiting.push_back(mirror.find(number));
  for (const auto& [number, id] : jobs.first_tasks()) {
    if (!limited.contains(number)) waiting.push_back(mirror.find(number));
  }
  std::sort(waiting.begin(), waiting.end(), [](const manager::Job* a, const manager::Job* b) {
    return std::pair(a->submit, a->number) < std::pair(b->submit, b->number);
  });
  policy::Composition composition = chosen_.composition;
  composition.packing = "alone";
  Idle idle;
  const auto policy = schedule::make_policy(
      composition,
      schedule::PlayedHost{.estimator = jobs.estimator(), .past_use = past_use, .site = {}},
      schedule::kNoSiteRules);
  schedule::Round round(decision_.world->cluster, experience_.log(), *policy, idle, kNoRestartCost,
                        seed_, composition.name);
  for (const auto& [name, id] : decision_.world->nodes) round.set_drained(id, true);
  std::vector<policy::Event> events;
  for (const manager::Job* const job : waiting) {
    const auto known = jobs.first_task(job->number);
    const JobId id = known ? *known : jobs.add(*job);
    const Time since = std::min(job->submit, decision_.at);
    if (round.admit(id, jobs.past_of(*job, since))) continue;
    events.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(id))});
  }
  round.run(decision_.at, events);
  std::vector<JobId> order;
  round.line_up(order);

  std::set<JobNumber> starts;
  for (const Decision::Start& each : decision_.starts) starts.insert(each.job);
  for (Decision::Line& line : decision_.lines) {
    // Each stands before the job that the policy would look at next.
    std::map<JobNumber, std::vector<JobNumber>> before;
    std::vector<JobNumber> held_up;
    for (const JobId id : order) {
      const JobNumber number = jobs.number(id);
      if (round.progress(id).vc != line.vc || starts.contains(number)) continue;
      if (limited.contains(number)) {
        held_up.push_back(number);
      } else {
        before[number] = std::exchange(held_up, {});
      }
    }
    line.ranked.clear();
    for (const JobNumber number : line.jobs) {
      const std::vector<JobNumber>& those = before[number];
      line.ranked.insert(line.ranked.end(), those.begin(), those.end());
      line.ranked.push_back(number);
    }
    line.ranked.insert(line.ranked.end(), held_up.begin(), held_up.end());
  }
}

}  // namespace almanac::steer
