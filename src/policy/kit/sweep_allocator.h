// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of schedulers that stop trials of sweeps early. A subclass chooses the rungs at which the
/// trials of a group are compared; this class does the rest.
///
/// A trial that is not among the best of its rung gives its GPUs back and pauses, or ends. It
/// continues once it is among them, before new trials begin. When no trial of its group runs or may
/// begin, paused trials end. Promoted trials come first, then trials in order of arrival. Reports
/// from before the scheduler began are read first (Host::past_reports), so that trials are compared
/// with those that have ended since. Jobs that are not trials are in the same line. No job is
/// stopped for another, unless a scheduler ranks them otherwise. A scheduler may give trials more
/// GPUs than they request, let no further trial begin, and end all at a deadline.
///
/// Cost     O(log n) per report, O(n) per decision with n jobs of a virtual cluster
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "policy/contract/host.h"
#include "policy/kit/allocator.h"
#include "rules/elastic/sweep/rungs.h"

namespace almanac::policy {

class SweepAllocator : public Allocator {
 public:
  SweepAllocator(std::unique_ptr<Placement> placement, const Host& host)
      : Allocator(std::move(placement)), past_reports_(host.past_reports) {}

 protected:
  /// Makes the rungs of a group whose trials end after `most` steps.
  virtual std::unique_ptr<elastic::Rungs> make_rungs(double most) const = 0;
  /// Called for each report of a job, before its rungs; `metric` is NaN for other reports.
  virtual void heard(JobId job, const Training& told, double metric, const View& view) {
    static_cast<void>(job);
    static_cast<void>(told);
    static_cast<void>(metric);
    static_cast<void>(view);
  }
  /// Whether waiting or paused trials of a group may still begin; otherwise they end.
  virtual bool admits(NameId group, const View& view) const {
    static_cast<void>(group);
    static_cast<void>(view);
    return true;
  }
  /// Returns when the unfinished trials of a group end; kNever if they do not.
  virtual Time ends_at(NameId group, const View& view) const {
    static_cast<void>(group);
    static_cast<void>(view);
    return kNever;
  }
  /// What is available for the trials of a virtual cluster.
  struct Room {
    VcId vc{};
    std::vector<Stock> left;    ///< GPUs that no earlier job in the line has taken.
    std::vector<Stock> free{};  ///< GPUs that no job holds now, in the same order.
    int per_node = 1;           ///< Most GPUs of a node.
    /// Returns the fewest nodes for `gpus` GPUs.
    int nodes_of(int gpus) const { return (gpus + per_node - 1) / per_node; }
    /// Returns the whole GPUs left of a type.
    int gpus_left(std::uint64_t type) const;
  };
  /// Returns how many GPUs a trial takes when its turn in the line comes; 0 for as many as it
  /// requests.
  virtual int gpus_of(JobId job, const Room& room, const View& view) {
    static_cast<void>(job);
    static_cast<void>(room);
    static_cast<void>(view);
    return 0;
  }
  /// Returns the GPU types, bits of Cluster::gpu_types(), of which a trial takes those GPUs; 0 for
  /// the type that it holds, or else any that it accepts. Called after gpus_of().
  virtual std::uint64_t types_of(JobId job) const {
    static_cast<void>(job);
    return 0;
  }
  /// Gives jobs that should run more GPUs from what is left.
  virtual void widen(Room& room, const View& view, std::vector<Wish>& wishes) {
    static_cast<void>(room);
    static_cast<void>(view);
    static_cast<void>(wishes);
  }
  /// Returns the position of a job in the line: lower is earlier, equals in order of arrival. A
  /// running job gives way to jobs before it that need its place.
  virtual int rank(JobId job, const View& view) const;
  /// Called for a job that will not run again.
  virtual void gone(JobId job) { static_cast<void>(job); }
  /// Returns the earliest deadline of a group's trials so far; kNever if none has one.
  static Time deadline_of(NameId group, const View& view);
  /// Returns the rungs of a group; null if none of its trials has reported a metric.
  elastic::Rungs* rungs_of(NameId group) const {
    const auto found = sweeps_.find(group);
    return found == sweeps_.end() ? nullptr : found->second.get();
  }

 private:
  void reported(JobId job, double metric, const View& view) final;
  void left(JobId job, const View& view) final;
  bool rests(JobId job) const final { return resting_.contains(job); }
  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) final;
  /// Compares the trials of a new group by their earlier reports; those that had paused pause
  /// again.
  void recall(NameId group, const View& view, Plan& plan);
  /// Continues the trials that are promoted by now; returns false if there is none.
  bool promote(elastic::Rungs& rungs, const View& view);
  /// Settles a group in which, apart from `gone`, only paused trials are left, and ends these if
  /// none of them continues.
  void end_if_over(NameId group, JobId gone, const View& view);

  PastReports past_reports_;
  std::set<NameId> recalled_;  // groups whose earlier reports were read
  std::map<NameId, std::unique_ptr<elastic::Rungs>> sweeps_;
  std::set<JobId> resting_;
  std::set<JobId> promoted_;
};

}  // namespace almanac::policy
