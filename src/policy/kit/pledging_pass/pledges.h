// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decides which deadlines are accepted, and keeps the GPUs reserved for them (pledge_book.h).
///
/// A job with a deadline is decided once, on arrival: from then on it has a pledge, or it is
/// rejected and runs like a job without a deadline. If the job still has some value late
/// (trace/value.h), the earliest possible end of a lease is accepted. Each pledge is reviewed when
/// a lease begins. A job that is ahead releases what it no longer needs. A job that exceeded its
/// estimate, or lost nodes, is accepted again if that is possible, and otherwise loses its pledge.
///
/// Alternatively nothing is accepted for good: when a lease begins, all jobs that can still be in
/// time are decided again, by the GPU time that they still need. All deadlines count equally, so if
/// not all can be met, the cheap ones should be (Moore, 1968, for one machine).
///
/// Source   Gao et al., SoCC'21 (Chronus); Gu et al., ASPLOS'23 (ElasticFlow).
/// Cost     each lease that begins, and each event between leases, checks each pledge
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/pledging_pass/pledge_book.h"

namespace almanac::policy {

class Pledges {
 public:
  /// Returns what a job may get, fewest GPUs first; valid until the next call.
  using LevelsOf = std::function<std::span<const Level>(JobId)>;

  /// Returns the work that a job is assumed to have left, as time at its reference speed.
  using WorkOf = std::function<Duration(JobId)>;

  /// Which jobs' deadlines are met.
  enum class Whose { first_to_come, cheapest };

  /// `stoppable` says which running jobs can make room; the others hold their GPUs to their ends.
  Pledges(Desk& desk, Duration lease, Duration phase, Whose whose, LevelsOf levels_of,
          WorkOf work_of, policy::Stops stoppable = policy::Stops::all)
      : desk_(desk),
        lease_(lease),
        phase_(phase),
        whose_(whose),
        levels_of_(std::move(levels_of)),
        work_of_(std::move(work_of)),
        stoppable_(stoppable) {}

  /// Records a job that joins the queue, or already runs when the policy begins.
  void came(const VcState& vc, JobId job);
  /// Records a job that no longer needs a pledge: it has ended, or no longer waits.
  void ended(const VcState& vc, JobId job);
  /// When GPUs that are lent beyond the pledges can be reclaimed.
  enum class Stops { as_leases_begin, at_once };
  /// Sets the current time, decides the deadlines of new jobs, and reviews all pledges when a lease
  /// begins. Returns whether GPUs of the current lease were pledged to a job.
  bool look(const VcState& vc, bool lease_begins, Stops stops);

  /// Returns the GPUs that a job holds.
  int held(JobId job) const;
  /// Returns the GPU type of a running job, one bit.
  std::uint64_t type_of(VcId vc, JobId job) const;
  bool has(VcId vc, JobId job) const { return of(vc).promises.contains(job); }
  /// Returns the jobs that have a pledge.
  std::vector<JobId> jobs(VcId vc) const;
  /// Returns the GPUs pledged to a job in the current lease; 0 also without a pledge.
  int now(VcId vc, JobId job) const;
  /// Returns what a job needs to start, on the GPU type that was pledged to it.
  cluster::Demand demand(VcId vc, JobId job) const;
  /// Whether a running job could continue with only what is pledged to it from now on, which may be
  /// nothing for a while.
  bool can_give_way(VcId vc, JobId job) const;
  /// Whether a running job would still be in time if it were stopped now and continued at once.
  bool may_restart(VcId vc, JobId job) const;
  /// Returns the pledged GPUs per unit of speed with which its work would be done later; for a job
  /// without a pledge, on its fewest GPUs.
  double gpus_per_rate(VcId vc, JobId job) const;
  /// Returns the work that a job gains if it has `to` in the current lease instead of `from`, which
  /// may be 0 GPUs, minus the cost of the change, now and later. If above 0, a job with a pledge
  /// can borrow that and its pledge still holds.
  double gain(VcId vc, JobId job, const Level& from, const Level& to) const;

 private:
  struct Promise {
    Pledge pledge;
    Time due{};
  };
  struct Vc {
    PledgeBook book;
    std::map<JobId, Promise> promises{};
    std::vector<JobId> newcomers{};
    std::set<JobId> hopeful{};  // all jobs with deadlines, if the cheapest are chosen
  };
  Vc& of(VcId vc);
  const Vc& of(VcId vc) const { return vcs_[index(vc)]; }
  PledgeBook::Need need(JobId job, Time due) const;
  std::optional<Pledge> find(const Vc& vc, JobId job, const PledgeBook::Need& need) const;
  void review(Vc& vc);
  void choose_jobs(const VcState& vc, Vc& here);
  /// Takes the GPUs of running jobs that cannot be stopped out of the book, up to their ends.
  void count_out_fixed_jobs(const VcState& vc, Vc& here);
  bool can_stop(JobId job) const;
  void admit(Vc& vc, JobId job);

  Desk& desk_;
  Duration lease_;
  Duration phase_;
  Whose whose_;
  LevelsOf levels_of_;
  WorkOf work_of_;
  policy::Stops stoppable_;
  std::vector<Vc> vcs_;
  std::vector<bool> asked_;  // by job
};

}  // namespace almanac::policy
