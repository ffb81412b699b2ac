// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "sim/engine.h"

namespace almanac::sim {

using policy::Event;
using policy::EventKind;
using policy::Phase;

void Engine::take_incidents() {
  const std::vector<cluster::Incident>& all = options_.incidents->all;
  const std::size_t before = next_incident_;
  for (; next_incident_ < all.size() && all[next_incident_].at <= now_; ++next_incident_) {
    take_incident(all[next_incident_]);
  }
  if (next_incident_ == before) return;
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.kind < b.kind; });
}

void Engine::take_incident(const cluster::Incident& incident) {
  using Kind = cluster::Incident::Kind;
  const NodeId node{incident.subject};
  const bool is_of_node = incident.kind == Kind::down || incident.kind == Kind::up;
  // What happens to a node that a service has for itself is not simulated.
  if (is_of_node && options_.services != nullptr && options_.services->owns(node)) return;
  switch (incident.kind) {
    case Kind::down:
      if (round_.ledger().drained(node)) return;
      fail_node(node);
      set_drained(node, true);
      events_.push_back({EventKind::node_down, incident.subject});
      break;
    case Kind::up:
      if (!round_.ledger().drained(node)) return;
      set_drained(node, false);
      events_.push_back({EventKind::node_up, incident.subject});
      break;
    case Kind::notice:
      events_.push_back({EventKind::node_notice, incident.subject, incident.value});
      break;
    case Kind::signal:
      set_signal(incident);
      events_.push_back({EventKind::signal_changed, incident.subject, incident.value});
      break;
  }
}

void Engine::set_signal(const cluster::Incident& incident) {
  policy::Signal& signal = signals_[incident.subject];
  signal.value = incident.value;
  signal.since = incident.at;
  meter_->set(incident.subject, incident.value);
}

void Engine::fail_node(NodeId node) {
  const std::vector<JobId> lost = on_node_[index(node)];
  for (const JobId job : lost) {
    // Twice there, for two pieces of one job.
    if (round_.progress(job).phase != Phase::running) continue;
    round_.fail(now_, job);
    stop(job);
    ++result_.failed_runs;
    events_.push_back({EventKind::job_failed, static_cast<std::uint32_t>(index(job))});
  }
}

void Engine::take_failures() {
  const std::size_t before = events_.size();
  while (const auto event = breakdowns_->take(now_)) {
    const auto node = static_cast<std::uint32_t>(index(event->node));
    switch (event->kind) {
      case Breakdowns::Kind::repaired:
        if (!breakdowns_->take_back(event->node, now_)) break;
        set_drained(event->node, false);
        events_.push_back({EventKind::node_up, node});
        break;
      case Breakdowns::Kind::announced:
        if (round_.ledger().drained(event->node)) break;
        events_.push_back({EventKind::node_notice, node, seconds(event->fails_at - now_)});
        break;
      case Breakdowns::Kind::node_failed:
        break_node(*event);
        break;
      case Breakdowns::Kind::job_failed:
        break_job(event->job, *event);
        break;
      case Breakdowns::Kind::retried:
        rejoin(event->job);
        break;
    }
  }
  if (events_.size() == before) return;
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.kind < b.kind; });
}

void Engine::break_node(const Breakdowns::Event& event) {
  const NodeId node = event.node;
  if (round_.ledger().drained(node)) return;
  if (options_.services != nullptr && options_.services->owns(node)) return;
  const std::vector<JobId> on_it = on_node_[index(node)];
  for (const JobId job : on_it) {
    // Twice there, for two pieces of one job.
    if (round_.progress(job).phase != Phase::running) continue;
    if (breakdowns_->stops(event, round_.grants(job))) break_job(job, event);
  }
  // Jobs that a failed link does not stop keep the node in service. Jobs that a failed GPU does not
  // stop continue, and no other job starts on the node.
  if (!on_node_[index(node)].empty() && breakdowns_->stays(event)) return;
  set_drained(node, true);
  events_.push_back({EventKind::node_down, static_cast<std::uint32_t>(index(node))});
  if (const auto spare = breakdowns_->send_out(now_, event)) {
    set_drained(*spare, false);
    events_.push_back({EventKind::node_up, static_cast<std::uint32_t>(index(*spare))});
  }
}

void Engine::break_job(JobId job, const Breakdowns::Event& event) {
  events_.push_back({EventKind::job_failed, static_cast<std::uint32_t>(index(job))});
  ++result_.failed_runs;
  if (is_replica(job)) {
    round_.fail(now_, job);
    return stop(job);
  }
  round_.fail(now_, job, breakdowns_->fail(now_, job, position(job), event));
  halt(job);
  const Time again = breakdowns_->retry(now_, job);
  if (again == now_) return;
  round_.withdraw(now_, job);
  if (again == kNever) {
    release_dependents(job);
  } else if (options_.watch.listener != nullptr) {
    options_.watch.listener->paused(job, again);
  }
  end_wait(job);
  events_.push_back({EventKind::job_withdrawn, static_cast<std::uint32_t>(index(job))});
}

/// A job that has paused waits again.
void Engine::rejoin(JobId job) {
  const policy::Progress& state = round_.progress(job);
  const auto reason = round_.admit(job, {.since = now_,
                                         .start = state.start,
                                         .attained = state.attained,
                                         .charged = state.charged,
                                         .preemptions = state.preemptions,
                                         .tenant = state.tenant});
  ALMANAC_CHECK(!reason, "job {} has run and can never start", index(job));
  begin_wait(job);
  events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(job))});
}

}  // namespace almanac::sim
