// SPDX-License-Identifier: Apache-2.0

/// \file
/// When jobs of a log may join the queue of a simulation, and when they leave it without running.
///
/// A job that depends on another joins when the log says that it was eligible, but not before the
/// other has left the simulation. The jobs of a chain therefore never run at once. A policy that
/// ends the first one sooner is not credited with an earlier start of the next.
///
/// A task of an array with a throttle joins likewise when the log says, but not before the array
/// has room: fewer than the throttle's tasks wait or run. Slurm counts running tasks only, and
/// tests one pending task of an array at a time, so as many start. The task waits from the time
/// that the log says, as in Slurm's records.
///
/// A job that never ran in the log (trace::never_ran) waits like any other, and leaves the queue
/// when its owner withdrew it. A policy that would have started it before then frees its GPUs at
/// once: its run time is unknown, and a guess would treat policies differently. Averages leave it
/// out.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "policy/contract/contract.h"
#include "schedule/round.h"
#include "trace/trace.h"

namespace almanac::sim {

class Breakdowns;
struct Present;

/// Holds jobs until their dependencies have left and their arrays have room. Cost: nothing without
/// dependencies and throttles; otherwise 32 bytes per dependent job or task and one lookup per job
/// that leaves.
class Dependencies {
 public:
  Dependencies() = default;  // none
  Dependencies(const trace::Trace& trace, const cluster::Cluster& cluster);
  /// Without the dependencies: users state the limits of arrays, but the log may have inferred what
  /// a job waited for.
  static Dependencies of_arrays(const trace::Trace& trace, const cluster::Cluster& cluster);

  /// Whether `job`, which arrives now, must wait for another or for room in its array. If so, it is
  /// kept until release() of a job that makes it free. `breakdowns` is null if nothing fails.
  bool hold(JobId job, const schedule::Round& round, const Breakdowns* breakdowns);
  /// `job` has left: it has ended, was withdrawn, or can never start. Returns the jobs that waited
  /// for it: they are eligible from now on, although the array of some may have no room.
  std::vector<JobId> release(JobId job);
  bool any_released() const { return !released_.empty(); }
  /// Returns the first job that may join now. There must be one.
  JobId take();
  /// Whether `job` is kept because its array has no room.
  bool is_throttled(JobId job) const;
  /// Keeps those of the first `come` jobs that wait for jobs in `from`, or for room in an array.
  void resume(const Present& from, std::size_t come);

 private:
  struct Array {
    int room = 0;              ///< Tasks that may still join; below 0 if more run than may.
    std::deque<JobId> line{};  ///< Tasks that wait for room.
  };
  void find_arrays(const trace::Trace& trace, const cluster::Cluster& cluster);
  /// Whether both are tasks of one array with a throttle. What a log shows as a dependency between
  /// them is the throttle.
  bool share_array(JobId job, JobId other) const;
  /// Returns whether the array of `job` has room, which it takes; otherwise it stands in line.
  bool enter_array(JobId job);
  void leave_array(JobId job);

  std::unordered_map<JobId, JobId> before_;             // by dependent job
  std::unordered_map<JobId, std::vector<JobId>> held_;  // by the job they wait for
  std::unordered_map<JobId, std::uint32_t> array_of_;   // by task that has not left
  std::vector<Array> arrays_;                           // those with a throttle
  std::vector<JobId> released_;                         // the last one joins first
};

/// Jobs that never ran, and when they leave.
class Withdrawals {
 public:
  Withdrawals() = default;  // none
  Withdrawals(const trace::Trace& trace, const cluster::Cluster& cluster);

  bool has(JobId job) const { return !leaves_.empty() && leaves_.contains(job); }
  /// Returns when the job leaves; kNever if the log does not say.
  Time at(JobId job) const { return leaves_.at(job); }
  /// `job` waits from now on; next() will return it.
  void await(JobId job);
  bool any() const { return !due_.empty(); }
  Time next() const { return due_.top().first; }
  JobId job() const { return due_.top().second; }
  JobId take();
  /// Marks withdrawn jobs that a policy started as withdrawn at that time.
  void mark(std::vector<policy::Progress>& progress) const;

 private:
  std::unordered_map<JobId, Time> leaves_;
  std::priority_queue<std::pair<Time, JobId>, std::vector<std::pair<Time, JobId>>, std::greater<>>
      due_;
};

}  // namespace almanac::sim
