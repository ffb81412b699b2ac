// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/preempt/virtual_easy.h"

#include <algorithm>

namespace almanac::policy {

void VirtualEasy::set_gpus(int gpus, Time now) {
  advance(now);
  free_ += gpus - gpus_;
  gpus_ = gpus;
  schedule(now);
}

void VirtualEasy::arrive(JobId job, int gpus, Duration most, Time came, Time now) {
  advance(now);
  const QueueKey key{.rank = static_cast<double>(came.time_since_epoch().count()),
                     .sequence = sequence_++};
  const int needed = std::min(gpus, gpus_);
  jobs_[job] = {.gpus = needed, .most = std::max(Duration{1}, most), .came = came, .key = key};
  line(needed).jobs.insert({key, job, most});
  schedule(now);
}

void VirtualEasy::adopt(JobId job, int gpus, Duration ran, Duration most, Time now) {
  advance(now);
  const Time end = now + std::max(Duration{1}, most);
  jobs_[job] = {
      .gpus = std::min(gpus, gpus_), .most = most, .came = now, .start = now - ran, .end = end};
  free_ -= jobs_[job].gpus;
  ends_.emplace(end, job);
}

void VirtualEasy::end(JobId job, Duration ran, Time now) {
  advance(now);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  Job& ended = found->second;
  const Duration took = std::max(Duration{1}, ran);
  if (ended.start == kNoTime) {
    // It waits here still, and now it is known how long it runs.
    Line& own = line(ended.gpus);
    own.jobs.erase(ended.key);
    ended.most = took;
    own.jobs.insert({ended.key, job, took});
    return schedule(now);
  }
  ends_.erase({ended.end, job});
  ended.end = ended.start + took;
  if (ended.end > now) {
    ends_.emplace(ended.end, job);
    return;
  }
  finish(job);
  schedule(now);
}

void VirtualEasy::withdraw(JobId job, Time now) {
  advance(now);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  if (found->second.start == kNoTime) {
    line(found->second.gpus).jobs.erase(found->second.key);
    jobs_.erase(found);
  } else {
    ends_.erase({found->second.end, job});
    finish(job);
  }
  schedule(now);
}

std::vector<VirtualEasy::Start> VirtualEasy::take_started(Time now) {
  advance(now);
  return std::exchange(started_, {});
}

VirtualEasy::Line& VirtualEasy::line(int gpus) {
  const auto at = std::lower_bound(lines_.begin(), lines_.end(), gpus,
                                   [](const Line& each, int wanted) { return each.gpus < wanted; });
  if (at != lines_.end() && at->gpus == gpus) return *at;
  return *lines_.insert(at, Line{.gpus = gpus});
}

void VirtualEasy::advance(Time now) {
  while (!ends_.empty() && ends_.begin()->first <= now) {
    const auto [at, job] = *ends_.begin();
    ends_.erase(ends_.begin());
    finish(job);
    schedule(at);
  }
}

VirtualEasy::Line* VirtualEasy::first_line() {
  Line* first = nullptr;
  for (Line& each : lines_) {
    if (each.jobs.empty()) continue;
    if (first == nullptr || each.jobs.front().key < first->jobs.front().key) first = &each;
  }
  return first;
}

void VirtualEasy::schedule(Time at) {
  for (Line* first = first_line(); first != nullptr; first = first_line()) {
    if (first->gpus > free_) return backfill(at, first->gpus);
    start(*first, first->jobs.front().job, at);
  }
}

void VirtualEasy::backfill(Time at, int needed) {
  const auto has_small = [&](const Line& each) { return each.gpus <= free_ && !each.jobs.empty(); };
  if (std::none_of(lines_.begin(), lines_.end(), has_small)) return;
  int room = free_;
  Time first_starts = kNever;
  for (const auto& [end, job] : ends_) {
    room += jobs_.at(job).gpus;
    if (room < needed) continue;
    first_starts = end;
    break;
  }
  int extra = std::max(0, room - needed);
  for (;;) {
    Line* from = nullptr;
    const QueueEntry* next = nullptr;
    for (Line& each : lines_) {
      if (each.gpus > free_) break;
      if (each.jobs.empty()) continue;
      const QueueEntry* const found = each.gpus <= extra || first_starts == kNever
                                          ? &each.jobs.front()
                                          : each.jobs.first_within(first_starts - at);
      if (found == nullptr || (next != nullptr && !(found->key < next->key))) continue;
      next = found;
      from = &each;
    }
    if (next == nullptr) return;
    if (first_starts != kNever && next->believed > first_starts - at) extra -= from->gpus;
    start(*from, next->job, at);
  }
}

void VirtualEasy::start(Line& from, JobId job, Time at) {
  Job& started = jobs_.at(job);
  from.jobs.erase(started.key);
  started.start = at;
  started.end = at + started.most;
  free_ -= started.gpus;
  ends_.emplace(started.end, job);
  started_.push_back({job, at - started.came});
}

void VirtualEasy::finish(JobId job) {
  free_ += jobs_.at(job).gpus;
  jobs_.erase(job);
}

}  // namespace almanac::policy
