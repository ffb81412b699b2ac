// SPDX-License-Identifier: Apache-2.0
#include "sim/queue_rules.h"

#include <algorithm>

#include "sim/breakdowns.h"
#include "sim/present.h"
#include "sim/simulation.h"
#include "trace/eligible.h"

namespace almanac::sim {
namespace {

JobId job_at(std::size_t position) { return JobId{static_cast<std::uint32_t>(position)}; }

}  // namespace

Dependencies::Dependencies(const trace::Trace& trace, const cluster::Cluster& cluster) {
  const auto depends = [&](const trace::Job& job) {
    return job.request.after != trace::kNoJobKey && is_simulated(job.request, cluster);
  };
  if (std::none_of(trace.jobs.begin(), trace.jobs.end(), depends)) return;
  std::unordered_map<trace::JobKey, JobId> places;
  for (std::size_t job = 0; job < trace.jobs.size(); ++job) {
    const trace::Job& each = trace.jobs[job];
    // A job that comes later cannot be waited for: two might wait for each other.
    if (const auto found = places.find(each.request.after);
        depends(each) && found != places.end()) {
      before_.emplace(job_at(job), found->second);
    }
    if (is_simulated(each.request, cluster)) places.emplace(each.id, job_at(job));
  }
}

bool Dependencies::hold(JobId job, const schedule::Round& round, const Breakdowns* breakdowns) {
  if (before_.empty()) return false;
  const auto found = before_.find(job);
  if (found == before_.end()) return false;
  const JobId other = found->second;
  const policy::Phase phase = round.progress(other).phase;
  const bool is_there = phase == policy::Phase::waiting || phase == policy::Phase::running ||
                        (breakdowns != nullptr && breakdowns->pauses(other));
  // The other job may be held itself.
  const auto same = held_.find(before_.contains(other) ? before_.at(other) : other);
  const bool is_held =
      phase == policy::Phase::unknown && same != held_.end() &&
      std::find(same->second.begin(), same->second.end(), other) != same->second.end();
  if (!is_there && !is_held) return false;
  held_[other].push_back(job);
  return true;
}

void Dependencies::release(JobId job) {
  if (held_.empty()) return;
  const auto found = held_.find(job);
  if (found == held_.end()) return;
  released_.insert(released_.end(), found->second.begin(), found->second.end());
  held_.erase(found);
  std::sort(released_.begin(), released_.end(), std::greater<>());
}

JobId Dependencies::take() {
  const JobId job = released_.back();
  released_.pop_back();
  return job;
}

void Dependencies::resume(const Present& from, std::size_t come) {
  if (before_.empty()) return;
  std::vector<bool> is_there(come, false);
  for (const auto* const jobs : {&from.running, &from.waiting}) {
    for (const Present::Job& each : *jobs) {
      if (index(each.job) < come) is_there[index(each.job)] = true;
    }
  }
  // What a job depends on comes before it: its own place is settled by then.
  for (std::size_t job = 0; job < come; ++job) {
    const auto found = before_.find(job_at(job));
    if (is_there[job] || found == before_.end() || !is_there[index(found->second)]) continue;
    held_[found->second].push_back(job_at(job));
    is_there[job] = true;
  }
}

Withdrawals::Withdrawals(const trace::Trace& trace, const cluster::Cluster& cluster) {
  for (std::size_t job = 0; job < trace.jobs.size(); ++job) {
    const trace::Job& each = trace.jobs[job];
    if (!is_simulated(each.request, cluster) || !trace::never_ran(each)) continue;
    leaves_.emplace(job_at(job), trace::withdrawn_at(each));
  }
}

void Withdrawals::await(JobId job) {
  if (const Time leaves = at(job); leaves != kNever) due_.emplace(leaves, job);
}

JobId Withdrawals::take() {
  const JobId job = due_.top().second;
  due_.pop();
  return job;
}

void Withdrawals::mark(std::vector<policy::Progress>& progress) const {
  for (const auto& [job, leaves] : leaves_) {
    policy::Progress& state = progress[index(job)];
    if (state.phase != policy::Phase::ended) continue;
    state.phase = policy::Phase::withdrawn;
    state.start = kNoTime;
    state.attained = Duration{0};
    state.num_grants = 0;
  }
}

}  // namespace almanac::sim
