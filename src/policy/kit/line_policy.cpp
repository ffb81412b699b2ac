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
  doubted_.hear(events, view);
  for (const JobId job : std::exchange(stopped_, {})) queue(job, view);
  for (const Event& event : events) take_in(event, view, plan.ledger);
  begin(view);
  // What one virtual cluster lets go of a quota another may have.
  const bool all_at_once = plan.quotas != nullptr || !serves_apart(view);
  for (std::uint32_t vc = 0; vc < lines_.size(); ++vc) {
    Line& line = lines_[vc];
    if (!line.touched && !all_at_once) continue;
    const std::size_t planned = plan.changes().size();
    const std::uint64_t before = changes(VcId{vc});
    serve(VcId{vc}, line.jobs, view, plan);
    line.touched = plan.changes().size() != planned || changes(VcId{vc}) != before;
  }
  look_at_quotas(view, plan);
  if (!stopped_.empty()) plan.wake(view.now);
}

void LinePolicy::look_at_quotas(const View& view, const Plan& plan) {
  aside_.clear();
  if (plan.quotas == nullptr) return;
  for (const Line& line : lines_) {
    std::copy_if(line.jobs.begin(), line.jobs.end(), std::back_inserter(aside_),
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
      line_of(job, view).touched = true;
      break;
    case EventKind::job_failed:
      left(job, view);
      queue(job, view);
      break;
    case EventKind::job_ended:
      left(job, view);
      line_of(job, view).touched = true;
      break;
    case EventKind::job_withdrawn:
      std::erase(line_of(job, view).jobs, job);
      line_of(job, view).touched = true;
      break;
    case EventKind::job_released:
      line_of(job, view).touched = true;
      break;
    case EventKind::capacity_changed:
    case EventKind::node_down:
    case EventKind::node_up:
      nodes_changed(ledger);
      for (Line& line : lines_) line.touched = true;
      break;
    case EventKind::job_reported:
    case EventKind::node_notice:
    case EventKind::signal_changed:
    case EventKind::timer:
      break;
  }
}

void LinePolicy::queue(JobId job, const View& view) {
  Line& line = line_of(job, view);
  line.touched = true;
  const auto key = [&](JobId each) {
    return std::tuple(-priority(each, view), view.request(each).submit, each);
  };
  const auto before = [&](JobId a, JobId b) { return key(a) < key(b); };
  line.jobs.insert(std::upper_bound(line.jobs.begin(), line.jobs.end(), job, before), job);
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
  for (const Line& each : lines_) {
    std::copy_if(each.jobs.begin(), each.jobs.end(), std::back_inserter(line),
                 [&](JobId job) { return !is_aside(job); });
  }
}

}  // namespace almanac::policy
