// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of allocators that give out GPUs in leases. At the start of a lease everything is
/// reallocated. During a lease, GPUs that become free are given out at once and no job is stopped.
/// At the start of a lease, a job is not stopped either if it has gained less than a lease of work
/// beyond the cost of stopping it (kit/gain.h).
///
/// Each virtual cluster has leases of its own. A lease begins with the first decision after the end
/// of the last one. The base class requests a wake-up then if a job runs and another waits, or jobs
/// share.
///
/// Cost     O(n) per decision in addition to deal(), with n jobs that wait or run
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "policy/kit/allocator.h"

namespace almanac::policy {

class LeaseAllocator : public Allocator {
 protected:
  /// As in Allocator.
  LeaseAllocator(std::unique_ptr<Placement> placement, Duration lease,
                 std::unique_ptr<predict::Estimator> estimator = nullptr,
                 std::shared_ptr<predict::TypeSpeeds> type_speeds = nullptr)
      : Allocator(std::move(placement), std::move(estimator), std::move(type_speeds)),
        lease_(lease) {}

  /// Input of one decision.
  struct Deal {
    VcId vc{};
    std::span<const JobId> jobs{};  ///< Waiting and running jobs, in order of arrival.
    bool begins = false;            ///< Whether a lease begins with this decision.
    std::vector<Stock> left{};      ///< GPUs that no named job takes; all at first.
    std::set<JobId> guests{};       ///< Jobs that may be stopped whatever they have gained.
  };
  /// As allocate(). It must also name the jobs that keep() or keep_groups() names.
  virtual void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) = 0;
  /// Returns the time until which deal() would name no waiting job if nothing happens, after it has
  /// named none in this lease. kNever is right for a policy that names only jobs for which it finds
  /// all they request among the remaining GPUs, and whose accounting does not depend on how often
  /// it is called; the next lease calls deal() again. Time::min() means that it may name a job at
  /// any time.
  virtual Time stands_in_lease(const Deal& deal, const View& view) const {
    static_cast<void>(deal);
    static_cast<void>(view);
    return Time::min();
  }
  /// Whether to reallocate at the end of the lease even if all jobs run and none share.
  virtual bool renews(VcId vc) const {
    static_cast<void>(vc);
    return false;
  }

  /// Makes `guests` of the deal if `first`, the waiting job whose turn it is, fits only so. Without
  /// this, a wide job never starts while short jobs come often enough that one of them has always
  /// gained too little to be stopped. Cost: O(n).
  void make_room(const cluster::Demand& first, const std::set<JobId>& guests, Deal& deal,
                 const View& view) const;
  /// Names those of `jobs` that stay where they are, and CPU jobs. Returns the others.
  std::vector<JobId> keep(std::span<const JobId> jobs, Deal& deal, const View& view,
                          std::vector<Wish>& wishes) const;
  /// Does the same, and puts the others in `open`.
  void keep(std::span<const JobId> jobs, Deal& deal, const View& view, std::vector<Wish>& wishes,
            std::vector<JobId>& open) const;
  /// For wishes that may name jobs next to another: names the jobs of each group of the last
  /// decision that still run if any of them stays where it is, and CPU jobs. Returns the others.
  std::vector<JobId> keep_groups(Deal& deal, const View& view, std::vector<Wish>& wishes);
  /// Returns the groups of jobs, or single jobs, that the last decision named.
  std::span<const std::vector<JobId>> groups(VcId vc) { return vcs_[index(vc)].groups; }

  Duration lease() const { return lease_; }

  /// Time of the last division by a program, and its jobs.
  struct Division {
    Time at = kNoTime;
    std::vector<JobId> jobs{};  ///< By number.
  };
  /// Whether a program must divide time again: it never has; or jobs have come or gone since and
  /// the last division is at least `reset` old; or a lease begins in which a job waits and a new
  /// job has no part. So a new job never waits for `reset`.
  static bool is_outdated(const Division& last, const Deal& deal, Duration reset, const View& view);
  static Division division_of(const Deal& deal, const View& view);

 private:
  struct Vc {
    std::vector<JobId> jobs;                 // at the last decision
    std::vector<std::vector<JobId>> groups;  // as last wished, if jobs may share
    Time lease_ends{};
    Time stands_until = Time::min();  // the last deal, if it changed nothing
  };

  void allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) final;
  Time stands_until(VcId id, const View& view) const final;
  void settled(VcId id, const View& view, Plan& plan) final;
  bool stays(JobId job, const Deal& deal, const View& view) const;
  static bool any_came(const Division& last, const Deal& deal, const View& view);

  Duration lease_;
  JobMarks there_;  // for keep_groups()
  JobMarks named_;
  std::vector<Vc> vcs_;  // by VcId
};

}  // namespace almanac::policy
