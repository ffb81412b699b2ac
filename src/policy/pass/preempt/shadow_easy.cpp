// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/preempt/shadow_easy.h"

#include <algorithm>
#include <utility>

#include "policy/registry.h"

namespace almanac::policy {

/// Estimates that each job runs for Length::most.
class ShadowEasy::Most final : public predict::Estimator {
 public:
  explicit Most(const std::vector<Length>& lengths) : lengths_(lengths) {}
  predict::Belief estimate(JobId job, const trace::Request&) override {
    return {.run = lengths_[index(job)].most};
  }

 private:
  const std::vector<Length>& lengths_;
};

ShadowEasy::ShadowEasy(const View& view)
    : ledger_(view.cluster),
      easy_(registry().make({.name = "easy", .estimate = "limit", .pass = "easy"},
                            {.estimator = std::make_unique<Most>(lengths_)})) {}

ShadowEasy::~ShadowEasy() = default;

void ShadowEasy::arrive(JobId job, Length length, Time came, const View& view) {
  // One that lost its nodes comes again, and may still wait or run here.
  if (knows(job) || !is_next_of(EventKind::job_arrived, view.now)) advance(view);
  make_room(view);
  if (knows(job)) {
    if (progress_[index(job)].phase == Phase::waiting) return;
    set_end(job, view.now);
    advance(view);
  }
  Progress& state = progress_[index(job)];
  state = {.since = came,
           .vc = view.progress(job).vc,
           .demand = view.progress(job).demand,
           .phase = Phase::waiting};
  set_length(job, length);
  put_off(EventKind::job_arrived, job, view.now);
}

void ShadowEasy::adopt(JobId job, Length length, const View& view) {
  if (!is_next_of(EventKind::job_adopted, view.now)) advance(view);
  make_room(view);
  for (const cluster::Grant& grant : view.grants(job)) {
    // Its node may be out of service, or under `easy` another job may hold its GPUs here.
    if (!ledger_.can_take(grant)) return arrive(job, length, view.now, view);
  }
  set_length(job, length);
  progress_[index(job)] = {.since = view.now,
                           .vc = view.progress(job).vc,
                           .demand = view.progress(job).demand,
                           .phase = Phase::waiting};
  for (const cluster::Grant& grant : view.grants(job)) ledger_.take(grant);
  ledger_.commit();
  start(job, view.grants(job), view.now);
  started_.pop_back();
  put_off(EventKind::job_adopted, job, view.now);
}

void ShadowEasy::end(JobId job, const View& view) {
  advance(view);
  if (!knows(job)) return;
  const Duration ran = std::max(Duration{1}, view.attained(job));
  const Progress& state = progress_[index(job)];
  if (state.phase == Phase::waiting) {
    lengths_[index(job)].expected = ran;
    return;
  }
  set_end(job, std::max(view.now, state.since + ran));
  advance(view);
}

void ShadowEasy::withdraw(JobId job, const View& view) {
  advance(view);
  if (!knows(job)) return;
  if (progress_[index(job)].phase == Phase::running) return;  // as if it ran as expected
  progress_[index(job)].phase = Phase::withdrawn;
  const Event gone{EventKind::job_withdrawn, static_cast<std::uint32_t>(index(job))};
  decide(view.now, {&gone, 1}, view);
  lengths_[index(job)] = {};
}

void ShadowEasy::follow_nodes(const View& view, const cluster::Ledger& real) {
  advance(view);
  std::vector<Event> events;
  for (std::uint32_t at = 0; at < ledger_.num_nodes(); ++at) {
    const NodeId node{at};
    if (ledger_.drained(node) == real.drained(node)) continue;
    ledger_.set_drained(node, real.drained(node));
    const auto vc = static_cast<std::uint32_t>(index(view.cluster.nodes[at].vc));
    events.push_back({EventKind::capacity_changed, vc});
  }
  if (!events.empty()) decide(view.now, events, view);
}

std::vector<ShadowEasy::Start> ShadowEasy::take_started(const View& view) {
  advance(view);
  return std::exchange(started_, {});
}

void ShadowEasy::put_off(EventKind kind, JobId job, Time at) {
  put_off_.push_back({kind, static_cast<std::uint32_t>(index(job))});
  put_off_at_ = at;
}

void ShadowEasy::advance(const View& view) {
  if (!put_off_.empty()) decide(put_off_at_, std::exchange(put_off_, {}), view);
  std::vector<Event> events;
  while (!ends_.empty() && ends_.top().first <= view.now) {
    const Time at = ends_.top().first;
    events.clear();
    while (!ends_.empty() && ends_.top().first == at) {
      const JobId job = ends_.top().second;
      ends_.pop();
      if (!ends_at(job, at)) continue;
      finish(job, at);
      events.push_back({EventKind::job_ended, static_cast<std::uint32_t>(index(job))});
    }
    if (events.empty()) continue;
    decide(at, events, view);
    for (const Event& each : events) lengths_[each.subject] = {};
  }
}

void ShadowEasy::set_end(JobId job, Time at) {
  if (ends_at(job, at)) return;
  lengths_[index(job)].expected = at - progress_[index(job)].since;
  ends_.emplace(at, job);
}

void ShadowEasy::set_length(JobId job, Length told) {
  Length& length = lengths_[index(job)];
  length.expected = std::max(Duration{1}, told.expected);
  length.most = std::max(length.expected, told.most);
}

void ShadowEasy::finish(JobId job, Time at) {
  Progress& state = progress_[index(job)];
  state.attained += at - state.since;
  state.end = at;
  state.phase = Phase::ended;
  for (std::size_t each = 0; each < state.num_grants; ++each) {
    ledger_.give_back(grants_[state.first_grant + each]);
  }
  ledger_.commit();
}

void ShadowEasy::decide(Time at, std::span<const Event> events, const View& view) {
  View own = view.elsewhere(progress_, grants_, rng_);
  own.now = at;
  Plan plan(ledger_, own);
  easy_->decide(events, own, plan);
  for (const Plan::Change& change : plan.changes()) {
    start(change.job, plan.grants(change), at);
  }
  ledger_.commit();
}

void ShadowEasy::start(JobId job, std::span<const cluster::Grant> grants, Time at) {
  Progress& state = progress_[index(job)];
  started_.push_back({job, at - state.since});
  if (grants.size() > state.max_grants) {
    state.first_grant = static_cast<std::uint32_t>(grants_.size());
    state.max_grants = static_cast<std::uint16_t>(grants.size());
    grants_.resize(grants_.size() + grants.size());
  }
  std::copy(grants.begin(), grants.end(), grants_.begin() + state.first_grant);
  state.num_grants = static_cast<std::uint16_t>(grants.size());
  state.since = at;
  state.start = at;
  state.phase = Phase::running;
  ends_.emplace(at + lengths_[index(job)].expected, job);
}

void ShadowEasy::make_room(const View& view) {
  if (progress_.size() >= view.num_jobs()) return;
  progress_.resize(view.num_jobs());
  lengths_.resize(view.num_jobs());
}

}  // namespace almanac::policy
