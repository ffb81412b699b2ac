// SPDX-License-Identifier: Apache-2.0

/// \file
/// The scheduling part of Slurm's controller: events in, starts out. A host reports what happens
/// and calls run() when next() says.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "slurmctld/backfill/cycle.h"
#include "slurmctld/main_loop/pass.h"
#include "slurmctld/main_loop/state.h"

namespace almanac::slurmctld {

/// Seconds at which periodic work is first due. Their phases depend on when a real controller was
/// started.
struct Phases {
  Seconds full_pass = 0;
  Seconds cycle = 0;
  Seconds decay = 0;
};

/// Source   Slurm 22.05, slurmctld/controller.c (_slurmctld_background), job_scheduler.c
///          (schedule, queue_job_scheduler), plugins/sched/backfill (backfill_agent).
/// Differs  Passes and cycles take no time and are skipped if nothing has changed since the last.
///          Epilogs take no time.
class Controller {
 public:
  static constexpr Seconds kNothingDue = 0x7fff'ffff'ffff'ffff;

  /// `site` must outlive it. `plan_all`: each cycle plans all jobs, also those whose plans do not
  /// matter to any start.
  Controller(const site::Site& site, const Phases& phases, bool plan_all = false);

  // Events, in order of time. A job of Job::array tasks is one job until its tasks start.
  void submit(Job job, Seconds now);
  void cancel(JobNumber job, Seconds now);
  /// Cancels one pending task of an array, or a job that is no array.
  void cancel_task(JobNumber job, int task, Seconds now);
  void hold(JobNumber job, Seconds now);
  void release(JobNumber job, Seconds now);
  /// A running job ended. `failed`: its exit code was not 0, or it was killed.
  void end(JobNumber job, Seconds now, bool failed);
  /// A job that runs already when the controller takes over.
  void adopt(Job job, PartitionAt partition, Allocation allocation, Seconds began);
  void set_up(NodeAt node, bool up, Seconds now);
  void reserve(ReservedNodes reservation, Seconds now);
  /// Requests a pass of the main scheduler, as updates of jobs, nodes and partitions do.
  void changed(Seconds now);

  // The work that run() does when it is due, for hosts that know when a real controller did it.
  void pass(Seconds now, bool full);
  void cycle(Seconds now);
  void decay(Seconds now);

  /// Does all that is due at `now`: passes, the decay of usage, a backfill cycle.
  void run(Seconds now);
  /// Returns when run() must be called next, at least `now`; kNothingDue if only an event can
  /// change anything.
  Seconds next(Seconds now) const;

  std::vector<Start> take_starts() { return std::exchange(state_.starts, {}); }
  std::vector<Preemption> take_preemptions() { return std::exchange(state_.preemptions, {}); }
  /// Returns why a pending job waits, as squeue prints it.
  ReasonName reason(JobNumber job) const;
  /// Pending jobs that are not in the queue, as they are not eligible yet.
  const std::set<JobNumber>& dormant() const { return dormant_; }
  const State& state() const { return state_; }
  State& state() { return state_; }

 private:
  struct Ended {
    Seconds started = kNoSeconds;
    Seconds at = 0;
    bool failed = false;
  };
  enum class Verdict : std::uint8_t { fulfilled, waits, never };

  /// Queues the jobs that have become eligible.
  void build_queue(Seconds now);
  ReasonName why_dormant(const Job& job, Seconds now) const;
  /// Whether a task of an array waits or runs.
  bool has_tasks(JobNumber array) const;
  Verdict judge(const Job& job, Seconds now) const;
  Verdict judge(const Job& job, const Dependency& dependency, Seconds now) const;
  /// Whether a begin time has come, or a reservation has begun or ended, since the last run().
  bool time_changes(Seconds now) const;
  /// Notes, before anything changes, that it does.
  void touch(Seconds now);
  bool is_waiting() const;
  /// Between two passes over the full queue.
  Seconds full_interval() const;
  bool backfills() const;
  Seconds bf_interval() const;
  bool decays() const { return state_.priorities.has_value(); }
  /// Whether jobs that wait while none runs may be held back by usage, which decays.
  bool awaits_decay() const;

  State state_;
  MainPass pass_;
  BackfillCycle cycle_;
  bool plan_all_;
  Seconds next_full_;   // pass over the full queue
  Seconds next_cycle_;  // at the earliest
  Seconds next_decay_;
  Seconds last_run_ = 0;
  Seconds changed_at_ = 0;  // last
  Seconds last_loop_ = 0;   // pass that the background loop began
  bool pass_queued_ = false;
  bool pass_now_ = false;
  bool full_pass_due_ = false;  // something has changed since the last one
  bool cycle_due_ = false;
  std::set<JobNumber> dormant_;  // pending jobs that are not in the queue
  std::unordered_map<JobNumber, Ended> ended_;
  std::unordered_map<JobNumber, bool> failed_arrays_;  // whether a task of the array has failed
  std::deque<std::pair<Seconds, JobNumber>> purges_;
};

}  // namespace almanac::slurmctld
