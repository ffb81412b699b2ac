// SPDX-License-Identifier: Apache-2.0

/// \file
/// Selects the deadlines that are met, and says which jobs must run now for that.
///
/// When a lease begins, the deadlines that can be met together are chosen again, those that need
/// the least GPU time first (kit/pledging_pass/pledges.h). GPUs are set aside for each chosen job
/// in the latest leases that suffice. The job is *due* in these leases, and then goes before all
/// others except overdue ones. A job that is not due has its ordinary rank, and may run earlier.
/// So has a job whose deadline cannot be met.
///
/// Run times are uncertain. A deadline can be met if the median of what the job still has to run
/// fits. GPUs are set aside for the 80 % quantile, or for all the time until the deadline if that
/// is shorter.
///
/// Source   ours, after Moore, Management Science 1968 (which deadlines to give up) and Gao et al.,
///          SoCC'21 (leases, filled from the deadline backwards).
/// Cost     as Pledges, when a lease begins and when a job with a deadline arrives; nothing without
///          such jobs
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/pledging_pass/pledges.h"

namespace almanac::policy {

class Deadlines {
 public:
  /// `stops` says which running jobs can make room for others.
  Deadlines(Desk& desk, Stops stops);
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  /// Records a job that joins the queue, or already runs. Ignores jobs without a deadline.
  void came(const VcState& vc, JobId job);
  void ended(const VcState& vc, JobId job);
  /// Chooses again if a lease has begun or a job has arrived. Returns the jobs that have become
  /// due, or no longer are; valid until the next call.
  std::span<const JobId> look(const VcState& vc);
  /// Returns when to call look() at the latest; kNever if no job of `vc` has a deadline, or if time
  /// alone can change nothing.
  Time next_look(VcId vc) const;

  bool is_due(JobId job) const { return index(job) < due_.size() && due_[index(job)]; }
  /// Returns until when a job that cannot be stopped may run if it starts now, because later its
  /// GPUs are set aside for others; kNever if none are.
  Time free_until(VcId vc, JobId job) const;

 private:
  struct Watched {
    std::set<JobId> jobs{};  // with deadlines, that have not ended
    Time lease = kNoTime;    // beginning of the last lease that look() saw
    bool is_new = false;     // a job has come since
    bool is_stuck = false;   // nothing runs, and no deadline can be met
  };
  /// Returns the work for which GPUs are set aside, as time at the reference speed.
  Duration reserved_work(JobId job) const;
  bool watches(VcId vc) const { return index(vc) < vcs_.size() && !vcs_[index(vc)].jobs.empty(); }

  Desk& desk_;
  Level level_{};
  Pledges pledges_;
  std::vector<Watched> vcs_;
  std::vector<bool> due_;  // by job
  std::vector<JobId> changed_;
};

/// Ranks as `order` does, but jobs that are due first. `deadlines` must outlive it.
std::unique_ptr<Order> due_first(std::unique_ptr<Order> order, const Deadlines& deadlines);

}  // namespace almanac::policy
