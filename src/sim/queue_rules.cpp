// SPDX-License-Identifier: Apache-2.0
#include "sim/queue_rules.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "sim/breakdowns.h"
#include "sim/present.h"
#include "sim/simulation.h"
#include "trace/array_limit.h"
#include "trace/eligible.h"

namespace almanac::sim {
namespace {

JobId job_at(std::size_t position) { return JobId{static_cast<std::uint32_t>(position)}; }

}  // namespace

Dependencies::Dependencies(const trace::Trace& trace, const cluster::Cluster& cluster) {
  const auto depends = [&](const trace::Job& job) {
    return job.request.after != trace::kNoJobKey && is_simulated(job.request, cluster);
  };
  find_arrays(trace, cluster);
  if (std::none_of(trace.jobs.begin(), trace.jobs.end(), depends)) return;
  std::unordered_map<trace::JobKey, JobId> places;
  for (std::size_t job = 0; job < trace.jobs.size(); ++job) {
    const trace::Job& each = trace.jobs[job];
    // A job that comes later cannot be waited for: two might wait for each other.
    if (const auto found = places.find(each.request.after);
        depends(each) && found != places.end() && !share_array(job_at(job), found->second)) {
      before_.emplace(job_at(job), found->second);
    }
    if (is_simulated(each.request, cluster)) places.emplace(each.id, job_at(job));
  }
}

Dependencies Dependencies::of_arrays(const trace::Trace& trace, const cluster::Cluster& cluster) {
  Dependencies made;
  made.find_arrays(trace, cluster);
  return made;
}

void Dependencies::find_arrays(const trace::Trace& trace, const cluster::Cluster& cluster) {
  std::map<std::string, std::uint32_t, std::less<>> places;
  for (std::size_t job = 0; job < trace.jobs.size(); ++job) {
    const trace::Job& each = trace.jobs[job];
    const int most = each.request.array_limit;
    if (most == 0 || !is_simulated(each.request, cluster)) continue;
    const std::string id = trace.id(each.id);
    const std::string_view array = trace::array_of_task(id);
    if (array.empty()) continue;
    const auto [place, is_new] =
        places.try_emplace(std::string(array), static_cast<std::uint32_t>(arrays_.size()));
    if (is_new) arrays_.push_back({.room = most});
    array_of_.emplace(job_at(job), place->second);
  }
}

bool Dependencies::share_array(JobId job, JobId other) const {
  const auto own = array_of_.find(job);
  const auto same = array_of_.find(other);
  return own != array_of_.end() && same != array_of_.end() && own->second == same->second;
}

bool Dependencies::enter_array(JobId job) {
  const auto found = array_of_.find(job);
  if (found == array_of_.end()) return true;
  Array& array = arrays_[found->second];
  if (array.room <= 0 || !array.line.empty()) {
    array.line.push_back(job);
    return false;
  }
  --array.room;
  return true;
}

void Dependencies::leave_array(JobId job) {
  const auto found = array_of_.find(job);
  if (found == array_of_.end()) return;
  Array& array = arrays_[found->second];
  array_of_.erase(found);
  if (array.room < 0 || array.line.empty()) {
    ++array.room;
    return;
  }
  released_.push_back(array.line.front());
  array.line.pop_front();
}

bool Dependencies::is_throttled(JobId job) const {
  const auto found = array_of_.find(job);
  if (found == array_of_.end()) return false;
  const std::deque<JobId>& line = arrays_[found->second].line;
  return std::find(line.begin(), line.end(), job) != line.end();
}

bool Dependencies::hold(JobId job, const schedule::Round& round, const Breakdowns* breakdowns) {
  const auto found = before_.find(job);
  if (found == before_.end()) return !enter_array(job);
  const JobId other = found->second;
  const policy::Phase phase = round.progress(other).phase;
  const bool is_there = phase == policy::Phase::waiting || phase == policy::Phase::running ||
                        (breakdowns != nullptr && breakdowns->pauses(other));
  // The other job may be held itself.
  const auto same = held_.find(before_.contains(other) ? before_.at(other) : other);
  const bool is_held =
      phase == policy::Phase::unknown && same != held_.end() &&
      std::find(same->second.begin(), same->second.end(), other) != same->second.end();
  if (!is_there && !is_held) return !enter_array(job);
  held_[other].push_back(job);
  return true;
}

std::vector<JobId> Dependencies::release(JobId job) {
  const std::size_t before = released_.size();
  leave_array(job);
  std::vector<JobId> eligible;
  if (const auto found = held_.find(job); found != held_.end()) {
    eligible = std::move(found->second);
    held_.erase(found);
  }
  for (const JobId each : eligible) {
    if (enter_array(each)) released_.push_back(each);
  }
  if (released_.size() > before) std::sort(released_.begin(), released_.end(), std::greater<>());
  return eligible;
}

JobId Dependencies::take() {
  const JobId job = released_.back();
  released_.pop_back();
  return job;
}

void Dependencies::resume(const Present& from, std::size_t come) {
  if (before_.empty() && array_of_.empty()) return;
  std::vector<bool> is_there(come, false);
  for (const auto* const jobs : {&from.running, &from.waiting}) {
    for (const Present::Job& each : *jobs) {
      if (index(each.job) >= come) continue;
      is_there[index(each.job)] = true;
      if (const auto array = array_of_.find(each.job); array != array_of_.end()) {
        --arrays_[array->second].room;
      }
    }
  }
  // What a job depends on comes before it: its own place is settled by then.
  for (std::size_t job = 0; job < come; ++job) {
    const auto found = before_.find(job_at(job));
    if (is_there[job] || found == before_.end() || !is_there[index(found->second)]) continue;
    held_[found->second].push_back(job_at(job));
    is_there[job] = true;
  }
  for (const JobId job : from.throttled) {
    if (!is_there[index(job)] && array_of_.contains(job) && enter_array(job)) {
      released_.insert(released_.begin(), job);
    }
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
