// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/line_policy.h"

#include <iterator>
#include <tuple>

namespace almanac::policy {

void LinePolicy::decide(std::span<const Event> events, const View& view, Plan& plan) {
  if (lines_.empty()) {
    lines_.resize(view.cluster.vcs.size());
    open(view, plan.ledger);
  }
  for (const JobId job : std::exchange(stopped_, {})) queue(job, view);
  for (const Event& event : events) take_in(event, view, plan.ledger);
  begin(view);
  for (std::uint32_t vc = 0; vc < lines_.size(); ++vc) serve(VcId{vc}, lines_[vc], view, plan);
  look_at_quotas(view, plan);
  if (!stopped_.empty()) plan.wake(view.now);
}

void LinePolicy::look_at_quotas(const View& view, const Plan& plan) {
  aside_.clear();
  if (plan.quotas == nullptr) return;
  for (const std::vector<JobId>& line : lines_) {
    std::copy_if(line.begin(), line.end(), std::back_inserter(aside_),
                 [&](JobId job) { return !has_quota(job, view, plan); });
  }
  std::sort(aside_.begin(), aside_.end());
}

void LinePolicy::take_in(const Event& event, const View& view, const cluster::Ledger& ledger) {
  const JobId job{event.subject};
  switch (event.kind) {
    case EventKind::job_arrived:
      queue(job, view);
      came(job, view);
      break;
    case EventKind::job_adopted:
      adopted(job, view);
      break;
    case EventKind::job_failed:
      left(job, view);
      queue(job, view);
      break;
    case EventKind::job_ended:
      left(job, view);
      break;
    case EventKind::job_withdrawn:
      std::erase(line_of(job, view), job);
      break;
    case EventKind::capacity_changed:
    case EventKind::node_down:
    case EventKind::node_up:
      nodes_changed(ledger);
      break;
    case EventKind::job_released:
    case EventKind::job_reported:
    case EventKind::node_notice:
    case EventKind::signal_changed:
    case EventKind::timer:
      break;  // what is free is looked at in each decision
  }
}

void LinePolicy::queue(JobId job, const View& view) {
  std::vector<JobId>& line = line_of(job, view);
  const auto key = [&](JobId each) {
    return std::tuple(-priority(each, view), view.request(each).submit, each);
  };
  const auto before = [&](JobId a, JobId b) { return key(a) < key(b); };
  line.insert(std::upper_bound(line.begin(), line.end(), job, before), job);
}

Reason LinePolicy::why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const {
  const cluster::Demand& demand = asked(job, view);
  if (is_aside(job)) return {.kind = ReasonKind::at_quota, .wanted = demand.gpus};
  Reason reason{.kind = ReasonKind::short_of_gpus, .wanted = demand.gpus};
  for (const cluster::Pool& pool : ledger.pools(view.progress(job).vc)) {
    if (pool.suits(demand)) reason.available += pool.free_gpus;
  }
  if (reason.available >= demand.gpus) reason.kind = ReasonKind::fragmented;
  if (demand.is_cpu_job()) reason.kind = ReasonKind::short_of_cores;
  return reason;
}

void LinePolicy::line_up(std::vector<JobId>& line) const {
  for (const std::vector<JobId>& each : lines_) {
    std::copy_if(each.begin(), each.end(), std::back_inserter(line),
                 [&](JobId job) { return !is_aside(job); });
  }
}

}  // namespace almanac::policy
