// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "sim/engine.h"

namespace almanac::sim {

using policy::EventKind;

/// What they did to nodes and jobs is in the state to continue from; signals keep their values.
void Engine::skip_incidents(Time until) {
  if (options_.incidents == nullptr) return;
  const std::vector<cluster::Incident>& all = options_.incidents->all;
  for (; next_incident_ < all.size() && all[next_incident_].at <= until; ++next_incident_) {
    const cluster::Incident& each = all[next_incident_];
    if (each.kind == cluster::Incident::Kind::signal) set_signal(each);
  }
}

void Engine::resume(const Present& from) {
  now_ = result_.begin = from.at;
  next_sample_ = kNever;
  result_.window.until = from.at;
  while (next_arrival_ < trace_.jobs.size() &&
         trace_.jobs[next_arrival_].request.submit <= from.at) {
    ++next_arrival_;
  }
  skip_jobs_left_out();
  dependencies_.resume(from, next_arrival_);
  while (next_change_ < changes_.size() && changes_[next_change_].at <= from.at) ++next_change_;
  skip_incidents(from.at);
  for (std::uint32_t node = 0; node < cluster_.nodes.size(); ++node) {
    round_.set_drained(NodeId{node}, false);
  }
  gaps_.begin(now_);
  for (const Present::Job& each : from.running) {
    const auto reason = round_.adopt(each.job, each.held, each.past);
    ALMANAC_CHECK(!reason, "job {} runs and can never start", index(each.job));
    for (const cluster::Grant& grant : each.held) {
      gaps_.take(grant.node, now_);
      if (!on_node_.empty()) on_node_[index(grant.node)].push_back(each.job);
    }
    if (instances_.any()) instances_.make(each.held);
    const Duration work = runs_[index(each.job)] + each.past.charged + options_.restart.launch;
    if (pacer_) {
      pacer_->credit(each.job, each.worked);
      pacer_->start(each.job, round_.grants(each.job), work, now_);
    } else {
      ends_.push(std::max(now_, each.past.since + (work - each.past.attained)), each.job);
    }
    if (breakdowns_) {
      breakdowns_->started(each.job, now_, each.past.attained + (now_ - each.past.since));
    }
    events_.push_back({EventKind::job_adopted, static_cast<std::uint32_t>(index(each.job))});
  }
  for (const Present::Job& each : from.waiting) {
    if (each.past.start != kNoTime) result_.resumed.emplace(each.job, kNoTime);
    if (keep_if_closed(each.job, each.past)) {
      if (pacer_) pacer_->credit(each.job, each.worked);
      continue;
    }
    if (closures_) closures_->watch(each.job, now_);
    const auto reason = round_.admit(each.job, each.past);
    ALMANAC_CHECK(!reason, "job {} waits and can never start", index(each.job));
    if (pacer_) pacer_->credit(each.job, each.worked);
    if (breakdowns_ && each.past.since > now_) {
      round_.withdraw(now_, each.job);
      breakdowns_->pause(each.job, each.past.since);
      continue;
    }
    if (withdrawals_.has(each.job)) withdrawals_.await(each.job);
    events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(each.job))});
  }
  for (const NodeId node : from.drained) set_drained(node, true);
  if (closures_) close_nodes();
  if (breakdowns_) breakdowns_->resume(from.drained, now_);
  if (!events_.empty()) decide();
}

}  // namespace almanac::sim
