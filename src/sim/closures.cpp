// SPDX-License-Identifier: Apache-2.0
#include "sim/closures.h"

#include <algorithm>
#include <iterator>

namespace almanac::sim {

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
  for (const Kept& each : kept_) at = std::min(at, each.until);
  return at;
}

JobId Closures::take_look(Time now) {
  if (looks_.empty() || looks_.top().first > now) return kNoJob;
  const JobId job = looks_.top().second;
  looks_.pop();
  return job;
}

std::vector<Closures::Kept> Closures::take_released(Time now) {
  std::vector<Kept> made;
  const auto is_over = [&](const Kept& each) { return each.until <= now; };
  std::copy_if(kept_.begin(), kept_.end(), std::back_inserter(made), is_over);
  std::erase_if(kept_, is_over);
  return made;
}

}  // namespace almanac::sim
