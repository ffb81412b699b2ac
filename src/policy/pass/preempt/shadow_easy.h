// SPDX-License-Identifier: Apache-2.0

/// \file
/// Plays policy `easy` beside the real schedule, on nodes of its own, to say how long each job
/// would have waited under it.
///
/// A job that has ended in the real schedule runs here for as long as it did there. Any other job
/// is assumed to run for as long as a reservation counts with, so waits are those of `easy` or
/// longer. Jobs run at the speed at which their run times are known, and no quota applies.
///
/// Source   Lifka, JSSPP'95 (EASY).
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"

namespace almanac::policy {

/// Cost: that of a simulation of `easy`, and 64 bytes a job.
class ShadowEasy {
 public:
  struct Start {
    JobId job{};
    Duration waited{};
  };

  explicit ShadowEasy(const View& view);
  ~ShadowEasy();
  ShadowEasy(const ShadowEasy&) = delete;
  ShadowEasy& operator=(const ShadowEasy&) = delete;

  /// The job has waited since `came`, and runs for `most` at the longest.
  void arrive(JobId job, Duration most, Time came, const View& view);
  /// The job runs with what it holds in `view`, for `most` at the longest from now on.
  void adopt(JobId job, Duration most, const View& view);
  /// The job has ended in the real schedule.
  void end(JobId job, const View& view);
  /// The job is gone without having run.
  void withdraw(JobId job, const View& view);
  /// Nodes have gone into or out of service, as `real` says.
  void follow_nodes(const View& view, const cluster::Ledger& real);
  /// Returns the jobs that have started here up to View::now since the last call.
  std::vector<Start> take_started(const View& view);

 private:
  class Bounds;

  /// Lets jobs end and start up to View::now.
  void advance(const View& view);
  void decide(Time at, std::span<const Event> events, const View& view);
  void start(JobId job, std::span<const cluster::Grant> grants, Time at);
  /// A job that runs here ends then.
  void set_end(JobId job, Time at);
  void finish(JobId job, Time at);
  void make_room(const View& view);

  Rng rng_{1};
  cluster::Ledger ledger_;
  std::vector<Progress> progress_;
  std::vector<cluster::Grant> grants_;
  std::unordered_map<JobId, Duration> most_;  // of jobs that have not ended here
  std::set<std::pair<Time, JobId>> ends_;     // of jobs that run here
  std::vector<Start> started_;
  std::unique_ptr<Policy> easy_;
};

}  // namespace almanac::policy
