// SPDX-License-Identifier: Apache-2.0

/// \file
/// Simulates policy `easy` next to the real schedule, on nodes of its own: how long would each job
/// have waited under it?
///
/// A job that has ended in the real schedule runs here for as long as it did there, any other for
/// as long as it is expected to. Jobs run at the speed at which their run times are known, and no
/// quota applies.
///
/// Source   Lifka, JSSPP'95 (EASY).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "cluster/ledger.h"
#include "policy/contract/contract.h"

namespace almanac::policy {

/// Cost: that of a simulation of `easy`, and 80 bytes a job.
class ShadowEasy {
 public:
  struct Start {
    JobId job{};
    Duration waited{};
  };
  struct Length {
    Duration expected{};
    Duration most{};  ///< Reserved by `easy`, at least `expected`.
  };

  explicit ShadowEasy(const View& view);
  ~ShadowEasy();
  ShadowEasy(const ShadowEasy&) = delete;
  ShadowEasy& operator=(const ShadowEasy&) = delete;

  /// The job has waited since `came`.
  void arrive(JobId job, Length length, Time came, const View& view);
  /// The job runs with what it holds in `view`, for `length` from now on.
  void adopt(JobId job, Length length, const View& view);
  /// The job has ended in the real schedule.
  void end(JobId job, const View& view);
  /// The job is gone without having run.
  void withdraw(JobId job, const View& view);
  /// Nodes have gone into or out of service, as `real` says.
  void follow_nodes(const View& view, const cluster::Ledger& real);
  /// Returns the jobs that have started here up to View::now since the last call.
  std::vector<Start> take_started(const View& view);

 private:
  class Most;
  using End = std::pair<Time, JobId>;

  /// Whether the job waits or runs here.
  bool knows(JobId job) const {
    return index(job) < lengths_.size() && lengths_[index(job)].most > Duration{0};
  }
  /// Whether the job of such an event would be decided about together with those put off.
  bool is_next_of(EventKind kind, Time at) const {
    return !put_off_.empty() && put_off_.front().kind == kind && put_off_at_ == at;
  }
  /// Leaves an event to the next advance(): a decision about ten thousand jobs that come at one
  /// instant costs a fraction of ten thousand decisions.
  void put_off(EventKind kind, JobId job, Time at);
  /// Lets jobs end and start up to View::now.
  void advance(const View& view);
  void decide(Time at, std::span<const Event> events, const View& view);
  void start(JobId job, std::span<const cluster::Grant> grants, Time at);
  void set_length(JobId job, Length told);
  /// A job that runs here ends then.
  void set_end(JobId job, Time at);
  /// Whether a job that runs here ends at `at`: ends_ also has times that no longer hold.
  bool ends_at(JobId job, Time at) const {
    const Progress& state = progress_[index(job)];
    return state.phase == Phase::running && state.since + lengths_[index(job)].expected == at;
  }
  void finish(JobId job, Time at);
  void make_room(const View& view);

  Rng rng_{1};
  cluster::Ledger ledger_;
  std::vector<Progress> progress_;
  std::vector<cluster::Grant> grants_;
  std::vector<Length> lengths_;  // by job
  /// Of jobs that run here, the next on top (ends_at()).
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<Start> started_;
  std::vector<Event> put_off_;  // of one kind and instant
  Time put_off_at_{};
  std::unique_ptr<Policy> easy_;
};

}  // namespace almanac::policy
