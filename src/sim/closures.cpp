// SPDX-License-Identifier: Apache-2.0
#include "sim/closures.h"

#include <algorithm>
#include <iterator>

namespace almanac::sim {

Closures::Closures(const trace::Trace& trace, std::vector<Closure> windows) : trace_(trace) {
  for (Closure& each : windows) {
    for (const NodeId node : each.nodes) {
      edges_.push_back({each.from, node, true});
      edges_.push_back({each.to, node, false});
    }
    if (each.nodes.empty()) windows_.push_back(std::move(each));
  }
  std::stable_sort(edges_.begin(), edges_.end(),
                   [](const Edge& a, const Edge& b) { return a.at < b.at; });
}

Time Closures::closed_until(JobId job, Time now) const {
  const Duration limit = trace_.jobs[index(job)].request.time_limit;
  const auto closed = std::find_if(windows_.begin(), windows_.end(), [&](const Closure& each) {
    if (each.to <= now) return false;
    return each.from <= now || limit == kNoDuration || limit > each.from - now;
  });
  return closed == windows_.end() ? kNoTime : closed->to;
}

void Closures::watch(JobId job, Time now) {
  if (closed_until(job, now) != kNoTime) return looks_.emplace(now, job);
  // A job that may start now has a limit, unless all windows are over.
  const Duration limit = trace_.jobs[index(job)].request.time_limit;
  Time first = kNever;
  for (const Closure& each : windows_) {
    // The first millisecond at which it would run into the window.
    if (each.to > now) first = std::min(first, each.from - limit + Duration{1});
  }
  if (first != kNever) looks_.emplace(first, job);
}

void Closures::keep(JobId job, Time until, const schedule::Past& past) {
  kept_.push_back({.job = job, .past = past, .until = until});
}

Time Closures::next() const {
  Time at = looks_.empty() ? kNever : looks_.top().first;
  if (next_edge_ < edges_.size()) at = std::min(at, edges_[next_edge_].at);
  for (const Kept& each : kept_) at = std::min(at, each.until);
  return at;
}

JobId Closures::take_look(Time now) {
  if (looks_.empty() || looks_.top().first > now) return kNoJob;
  const JobId job = looks_.top().second;
  looks_.pop();
  return job;
}

std::vector<Closures::Change> Closures::take_changes(Time now) {
  std::vector<Change> made;
  for (; next_edge_ < edges_.size() && edges_[next_edge_].at <= now; ++next_edge_) {
    const Edge& edge = edges_[next_edge_];
    int& windows = closed_[edge.node];
    windows += edge.begins ? 1 : -1;
    if (windows == (edge.begins ? 1 : 0)) made.push_back({edge.node, edge.begins});
  }
  return made;
}

std::vector<Closures::Kept> Closures::take_released(Time now) {
  std::vector<Kept> made;
  const auto is_over = [&](const Kept& each) { return each.until <= now; };
  std::copy_if(kept_.begin(), kept_.end(), std::back_inserter(made), is_over);
  std::erase_if(kept_, is_over);
  return made;
}

}  // namespace almanac::sim
