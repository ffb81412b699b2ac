// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of a scheduler that stops trials of sweeps early: it says which rungs the trials of a
/// group are compared at, and the rest follows.
///
/// A trial that is not among the best of its rung gives its GPUs back and rests, or is ended; it
/// goes on once it is, before new trials begin. When no trial of its group runs or may begin, those
/// that rest are ended. Which trial is next: one that was promoted, then in the order in which they
/// came. What trials reported before the scheduler began is heard first (Host::past_reports), so
/// that they are compared with those that have ended since. Jobs that are no trials stand in the
/// same line. No job is stopped for another, unless a scheduler ranks them otherwise. It may give
/// trials more GPUs than they ask, let none begin any more, and end all at a deadline.
///
/// Cost     O(log n) a report, O(n) a decision with n jobs of a virtual cluster.
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
  /// For a group whose trials are done after `most` steps.
  virtual std::unique_ptr<elastic::Rungs> make_rungs(double most) const = 0;
  /// Told of all that a job reports, before its rungs are; `metric` is NaN where it is none.
  virtual void heard(JobId job, const Training& told, double metric, const View& view) {
    static_cast<void>(job);
    static_cast<void>(told);
    static_cast<void>(metric);
    static_cast<void>(view);
  }
  /// Whether trials of a group that wait or rest may still begin; they are ended if not.
  virtual bool admits(NameId group, const View& view) const {
    static_cast<void>(group);
    static_cast<void>(view);
    return true;
  }
  /// When the trials of a group are ended that are not done; kNever = they are not.
  virtual Time ends_at(NameId group, const View& view) const {
    static_cast<void>(group);
    static_cast<void>(view);
    return kNever;
  }
  /// What there is for the trials of a virtual cluster.
  struct Room {
    VcId vc{};
    std::vector<Stock> left;  ///< GPUs that nobody before in the line has taken.
    int per_node = 1;         ///< GPUs, the most that a node has.
    /// On how few nodes so many GPUs may lie.
    int nodes_of(int gpus) const { return (gpus + per_node - 1) / per_node; }
    /// Whole GPUs of a type.
    int gpus_left(std::uint64_t type) const;
  };
  /// How many GPUs a trial takes as its turn in the line comes; 0 = as many as it asks.
  virtual int gpus_of(JobId job, const Room& room, const View& view) {
    static_cast<void>(job);
    static_cast<void>(room);
    static_cast<void>(view);
    return 0;
  }
  /// Gives the jobs that are to run more GPUs out of what is left.
  virtual void widen(Room& room, const View& view, std::vector<Wish>& wishes) {
    static_cast<void>(room);
    static_cast<void>(view);
    static_cast<void>(wishes);
  }
  /// Where a job stands in the line: the lower the sooner, those of a rank as they came. A running
  /// job behind others gives way to them where they need its place.
  virtual int rank(JobId job, const View& view) const;
  /// Told of a job that will not run again.
  virtual void gone(JobId job) { static_cast<void>(job); }
  /// The earliest deadline of the trials of a group that have come; kNever = none has one.
  static Time deadline_of(NameId group, const View& view);
  /// The rungs of a group; null = none of its trials has reported a metric.
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
  /// Compares the trials of a group that has come by what they reported before; those that rested
  /// rest again.
  void recall(NameId group, const View& view, Plan& plan);
  /// Lets the trials that are promoted by now go on; false = there is none.
  bool promote(elastic::Rungs& rungs, const View& view);
  /// Settles a group once no other trial than those that rest, but for `gone`, is there, and ends
  /// those that rest if none of them goes on.
  void end_if_over(NameId group, JobId gone, const View& view);

  PastReports past_reports_;
  std::set<NameId> recalled_;  // groups of which it was asked
  std::map<NameId, std::unique_ptr<elastic::Rungs>> sweeps_;
  std::set<JobId> resting_;
  std::set<JobId> promoted_;
};

}  // namespace almanac::policy
