// SPDX-License-Identifier: Apache-2.0

/// \file
/// When jobs of a log may join the queue of a simulation, and when they leave it without running.
///
/// A job that depends on another joins when the log says that it was eligible, and not before the
/// other has left the simulation. So the jobs of a chain never run at once; a policy that ends the
/// first sooner is not credited with an earlier begin of the next.
///
/// A job that never ran in the log (trace::never_ran) waits as any other and leaves the queue when
/// its owner withdrew it. A policy that would have started it before then frees its GPUs at once:
/// how long it would have run is not known, and running it for a guessed time would treat policies
/// differently. It counts in no average.
#pragma once

#include <cstdint>
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

struct Present;

/// Holds jobs until what they depend on has left. Cost: nothing without dependencies, else 32 bytes
/// a dependent job and a lookup a job that leaves.
class Dependencies {
 public:
  Dependencies() = default;  // none
  Dependencies(const trace::Trace& trace, const cluster::Cluster& cluster);

  /// Whether `job`, which comes now, must wait for another; it is kept until release() of that one.
  bool hold(JobId job, const schedule::Round& round);
  /// `job` has left: it ended, was withdrawn or can never start.
  void release(JobId job);
  bool any_released() const { return !released_.empty(); }
  /// The first of the jobs that may join now. There must be one.
  JobId take();
  /// Keeps the jobs among the first `come` that wait for jobs of `from`.
  void resume(const Present& from, std::size_t come);

 private:
  std::unordered_map<JobId, JobId> before_;             // what a job depends on
  std::unordered_map<JobId, std::vector<JobId>> held_;  // by what they wait for
  std::vector<JobId> released_;                         // the last is the first to join
};

/// Jobs that never ran, and when they leave.
class Withdrawals {
 public:
  Withdrawals() = default;  // none
  Withdrawals(const trace::Trace& trace, const cluster::Cluster& cluster);

  bool has(JobId job) const { return !leaves_.empty() && leaves_.contains(job); }
  /// When it leaves; kNever = the log does not say.
  Time at(JobId job) const { return leaves_.at(job); }
  /// `job` waits: next() will come to it.
  void await(JobId job);
  bool any() const { return !due_.empty(); }
  Time next() const { return due_.top().first; }
  JobId job() const { return due_.top().second; }
  JobId take();
  /// Makes those that a policy started jobs that were withdrawn then.
  void mark(std::vector<policy::Progress>& progress) const;

 private:
  std::unordered_map<JobId, Time> leaves_;
  std::priority_queue<std::pair<Time, JobId>, std::vector<std::pair<Time, JobId>>, std::greater<>>
      due_;
};

}  // namespace almanac::sim
