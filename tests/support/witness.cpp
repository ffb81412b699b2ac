// SPDX-License-Identifier: Apache-2.0
#include "support/witness.h"

#include <algorithm>

#include <fmt/format.h>

namespace almanac {
namespace {

using cluster::GpuMask;
using cluster::Grant;

/// The free GPUs of each node; none on one that is drained or not on.
std::vector<GpuMask> free_gpus(const cluster::Cluster& cluster, const cluster::Ledger& ledger) {
  std::vector<GpuMask> free(cluster.nodes.size(), 0);
  for (std::uint32_t node = 0; node < free.size(); ++node) {
    for (int gpu = 0; gpu < cluster.gpus(NodeId{node}); ++gpu) {
      const GpuMask one = GpuMask{1} << gpu;
      if (ledger.can_take(Grant{NodeId{node}, one})) free[node] |= one;
    }
  }
  return free;
}

}  // namespace

void Witness::decide(std::span<const policy::Event> events, const policy::View& view,
                     policy::Plan& plan) {
  for (const policy::Event& event : events) {
    if (event.kind == policy::EventKind::job_ended) close(JobId{event.subject}, view.now, false);
  }
  for (Sleep& sleep : sleeps_) {
    const bool sleeps = plan.ledger.power(sleep.node) == cluster::Power::asleep;
    if (sleep.end != kNever || sleeps) continue;
    sleep.end = view.now;
    sleep.drained = true;
  }
  const std::vector<GpuMask> before = free_gpus(view.cluster, plan.ledger);
  watched_.decide(events, view, plan);
  check_ledger(before, view, plan);
  note_power(view, plan);
  for (const JobId job : plan.stops) close(job, view.now, true);
  for (const policy::Plan::Start& start : plan.starts) {
    if (view.progress(start.job).phase != policy::Phase::waiting || open_.contains(start.job)) {
      fault(view, fmt::format("job {} starts but does not wait", index(start.job)));
    }
    const auto first = plan.grants.begin() + start.first_grant;
    open_[start.job] = runs_.size();
    runs_.push_back({.job = start.job,
                     .start = view.now,
                     .grants = std::vector<Grant>(first, first + start.num_grants)});
  }
  for (const Time wake : plan.wakes) {
    if (wake < view.now) fault(view, "it asks to be woken in the past");
  }
}

std::vector<Run> Witness::runs_of(JobId job) const {
  std::vector<Run> found;
  for (const Run& run : runs_) {
    if (run.job == job) found.push_back(run);
  }
  return found;
}

void Witness::close(JobId job, Time now, bool stopped) {
  const auto found = open_.find(job);
  if (found == open_.end()) {
    faults_.push_back(fmt::format("{} s: job {} ends but does not run", seconds(now), index(job)));
    return;
  }
  runs_[found->second].end = now;
  runs_[found->second].stopped = stopped;
  open_.erase(found);
}

/// The ledger must have changed by what the plan says, and by nothing else.
void Witness::check_ledger(const std::vector<GpuMask>& before, const policy::View& view,
                           const policy::Plan& plan) {
  std::vector<GpuMask> expected = before;
  for (const JobId job : plan.stops) {
    for (const Grant& grant : view.grants(job)) {
      if (!plan.ledger.drained(grant.node)) expected[index(grant.node)] |= grant.gpus;
    }
  }
  for (const Grant& grant : plan.grants) {
    if ((grant.gpus & ~expected[index(grant.node)]) != 0) {
      fault(view, fmt::format("it gives away GPUs of node {} twice", index(grant.node)));
    }
    expected[index(grant.node)] &= ~grant.gpus;
  }
  for (const NodeId node : plan.sleeps) expected[index(node)] = 0;
  if (free_gpus(view.cluster, plan.ledger) != expected)
    fault(view, "a what-if stays in the ledger");
}

void Witness::note_power(const policy::View& view, const policy::Plan& plan) {
  const auto open = [&](NodeId node) {
    return std::find_if(sleeps_.begin(), sleeps_.end(), [&](const Sleep& sleep) {
      return sleep.node == node && sleep.end == kNever;
    });
  };
  for (const NodeId node : plan.sleeps) {
    if (open(node) != sleeps_.end()) fault(view, fmt::format("node {} sleeps twice", index(node)));
    sleeps_.push_back({.node = node, .start = view.now});
  }
  for (const NodeId node : plan.boots) {
    const auto sleep = open(node);
    if (sleep == sleeps_.end()) {
      fault(view, fmt::format("node {} boots but did not sleep", index(node)));
    } else {
      sleep->end = view.now;
    }
  }
}

void Witness::fault(const policy::View& view, const std::string& sentence) {
  faults_.push_back(fmt::format("{} s: {}", seconds(view.now), sentence));
}

}  // namespace almanac
