// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/dead_man.h"

#include <cstdio>
#include <span>

#include <fmt/format.h>

#include "gateway/change.h"
#include "gateway/owned.h"
#include "gateway/refusal.h"

namespace almanac::gateway {
namespace {

using slurm::JobNumber;

/// Between two attempts while the controller does not answer.
constexpr std::chrono::seconds kPause{1};
/// After that somebody has taken the cluster into his own hands.
constexpr std::chrono::hours kGivesUp{24};

/// To whoever may still read it: often nobody, which must be no reason to stop (fmt::print throws).
void say(const std::string& what) {
  std::fputs(("almanac-slurm-gateway: " + what + "\n").c_str(), stderr);
}

}  // namespace

std::set<JobNumber> release_held(const std::set<JobNumber>& jobs) {
  job_info_msg_t* raw = nullptr;
  if (slurm_load_jobs(0, &raw, SHOW_ALL) != SLURM_SUCCESS) {
    say(refusal("ask for jobs to release").value().message);
    return jobs;
  }
  const Jobs told(raw);
  std::set<JobNumber> left;
  std::size_t released = 0;
  for (const slurm_job_info_t& info : std::span(told->job_array, told->record_count)) {
    const JobNumber job{info.job_id};
    const bool waits = (info.job_state & JOB_STATE_BASE) == JOB_PENDING;
    if (jobs.count(job) == 0 || !waits || info.priority != 0) continue;
    const auto done = release(job);
    if (done) {
      ++released;
    } else if (done.error().code == Code::unavailable) {
      left.insert(job);
    } else {
      say(done.error().message);
    }
  }
  say(fmt::format("nobody holds them any more: {} jobs released", released));
  return left;
}

DeadMan::DeadMan() : thread_([this] { run(); }) {}

DeadMan::~DeadMan() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void DeadMan::watch(std::vector<JobNumber> held, Duration patience) {
  {
    const std::lock_guard lock(mutex_);
    held_ = {held.begin(), held.end()};
    due_ = held_.empty() ? Clock::time_point::max() : Clock::now() + patience;
  }
  changed_.notify_all();
}

std::size_t DeadMan::release_all() {
  std::unique_lock lock(mutex_);
  if (held_.empty()) return 0;
  due_ = Clock::now();
  changed_.notify_all();
  changed_.wait_for(lock, kGivesUp, [this] { return held_.empty(); });
  return held_.size();
}

void DeadMan::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (due_ == Clock::time_point::max()) {
      changed_.wait(lock);
      continue;
    }
    if (Clock::now() < due_) {
      changed_.wait_until(lock, due_);
      continue;
    }
    const std::set<JobNumber> jobs = held_;
    const Clock::time_point due = due_;
    lock.unlock();
    const std::set<JobNumber> left = release_held(jobs);
    lock.lock();
    // Whoever has said meanwhile what he holds lives.
    if (due_ != due) continue;
    held_ = left;
    due_ = left.empty() ? Clock::time_point::max() : Clock::now() + kPause;
    if (left.empty()) changed_.notify_all();
  }
}

}  // namespace almanac::gateway
