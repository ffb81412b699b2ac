// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/dead_man.h"

#include <cstdio>
#include <span>

#include <fmt/format.h>

#include "gateway/change.h"
#include "gateway/owned.h"
#include "gateway/refusal.h"
#include "slurm/mark.h"

namespace almanac::gateway {
namespace {

using slurm::JobNumber;

/// The pause between two attempts while the controller does not answer.
constexpr std::chrono::seconds kPause{1};
/// After that an operator has taken the cluster into their own hands. Where no job is named there
/// is hardly one to release.
constexpr std::chrono::hours kGivesUp{24};
constexpr std::chrono::minutes kGivesUpSoon{1};

/// What slurmctld takes at most to keep a job that its plugin was told to hold.
constexpr std::chrono::milliseconds kNewcomer{200};

/// Often no process reads this any more, which must be no reason to stop (fmt::print throws).
void say(const std::string& what) {
  std::fputs(("almanac-slurm-gateway: " + what + "\n").c_str(), stderr);
}

/// Whether it is marked as Almanac marks jobs that it holds; a hold that a user has put on it is
/// the user's.
bool is_marked(const slurm_job_info_t& job) {
  return job.admin_comment != nullptr && job.admin_comment == slurm::kMark &&
         job.state_reason != WAIT_HELD_USER;
}

}  // namespace

bool release_held(const std::set<JobNumber>& jobs) {
  job_info_msg_t* raw = nullptr;
  if (slurm_load_jobs(0, &raw, SHOW_ALL) != SLURM_SUCCESS) {
    say(refusal("ask for jobs to release").value().message);
    return false;
  }
  const Jobs told(raw);
  bool is_done = true;
  std::size_t released = 0;
  for (const slurm_job_info_t& info : std::span(told->job_array, told->record_count)) {
    const JobNumber job{info.job_id};
    const bool waits = (info.job_state & JOB_STATE_BASE) == JOB_PENDING;
    if (!waits || info.priority != 0 || (!jobs.contains(job) && !is_marked(info))) continue;
    const auto done = release(job);
    if (done) {
      ++released;
    } else if (done.error().code == Code::unavailable) {
      is_done = false;
    } else {
      say(done.error().message);
    }
  }
  say(fmt::format("the daemon holds them no more: {} jobs released", released));
  return is_done;
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
    due_ = Clock::now() + patience;
  }
  changed_.notify_all();
}

bool DeadMan::release_all() {
  std::unique_lock lock(mutex_);
  const auto is_done = [this] { return due_ == Clock::time_point::max(); };
  if (is_done()) return true;
  due_ = Clock::now() + kNewcomer;
  changed_.notify_all();
  return changed_.wait_for(lock, held_.empty() ? kGivesUpSoon : kGivesUp, is_done);
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
    const bool is_done = release_held(jobs);
    lock.lock();
    // A daemon that has said meanwhile what it holds lives.
    if (due_ != due) continue;
    due_ = is_done ? Clock::time_point::max() : Clock::now() + kPause;
    if (is_done) changed_.notify_all();
  }
}

}  // namespace almanac::gateway
