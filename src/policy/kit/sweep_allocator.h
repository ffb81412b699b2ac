// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of a scheduler that stops trials of sweeps early: it says which rungs the trials of a
/// group are compared at, and the rest follows.
///
/// A trial that is not among the best of its rung gives its GPUs back and rests, or is ended; it
/// goes on once it is, before new trials begin. When no trial of its group runs or may begin, those
/// that rest are ended. Which trial is next: one that was promoted, then in the order in which they
/// came. Jobs that are no trials stand in the same line. No job is stopped for another.
///
/// Cost     O(log n) a report, O(n) a decision with n jobs of a virtual cluster.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "elastic/sweep/rungs.h"
#include "policy/kit/allocator.h"

namespace almanac::policy {

class SweepAllocator : public Allocator {
 public:
  using Allocator::Allocator;

 protected:
  /// For a group whose trials are done after `most` steps.
  virtual std::unique_ptr<elastic::Rungs> make_rungs(double most) const = 0;

 private:
  void reported(JobId job, double metric, const View& view) final;
  void left(JobId job, const View& view) final;
  bool rests(JobId job) const final { return resting_.contains(job); }
  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) final;
  /// Lets the trials that are promoted by now go on; false = there is none.
  bool promote(elastic::Rungs& rungs, const View& view);
  /// Settles a group once no other trial than those that rest, but for `gone`, is there, and ends
  /// those that rest if none of them goes on.
  void end_if_over(NameId group, JobId gone, const View& view);

  std::map<NameId, std::unique_ptr<elastic::Rungs>> sweeps_;
  std::set<JobId> resting_;
  std::set<JobId> promoted_;
};

}  // namespace almanac::policy
