// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of allocators that deal GPUs out in leases: as one begins all is dealt out anew; while
/// it lasts, what becomes free is handed out at once and no job is stopped. Nor is one as a lease
/// begins that has gained less than a lease of work over what a stop costs it
/// (Allocator::has_gained()).
///
/// Each virtual cluster has leases of its own. One begins with the first decision after the end of
/// the last; the frame asks to be woken then where a job runs and another waits, or jobs share.
///
/// Cost     O(n) a decision beside deal() with n jobs that wait or run.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "policy/kit/allocator.h"

namespace almanac::policy {

class LeaseAllocator : public Allocator {
 protected:
  /// As Allocator.
  LeaseAllocator(std::unique_ptr<Placement> placement, Duration lease,
                 std::unique_ptr<predict::Estimator> estimator = nullptr,
                 std::shared_ptr<predict::TypeSpeeds> type_speeds = nullptr)
      : Allocator(std::move(placement), std::move(estimator), std::move(type_speeds)),
        lease_(lease) {}

  /// What there is to deal out in a decision.
  struct Deal {
    VcId vc{};
    std::span<const JobId> jobs{};  ///< That wait or run, in the order in which they came.
    bool begins = false;            ///< A lease, with this decision.
    std::vector<Stock> left{};      ///< GPUs that no named job takes; at first all.
  };
  /// As allocate(). It is to name the jobs that keep() or keep_groups() names.
  virtual void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) = 0;
  /// Until when deal() would name no job that waits, after it has named none in this lease, if
  /// nothing happens. A policy that names only jobs for which it finds all that they ask among the
  /// GPUs left, and whose account of time does not depend on how often it is asked, may say kNever;
  /// the deal is repeated as the next lease begins. Time::min() = it may name one at any time.
  virtual Time stands_in_lease(const Deal& deal, const View& view) const {
    static_cast<void>(deal);
    static_cast<void>(view);
    return Time::min();
  }
  /// Whether to deal out anew at the end of the lease even where all jobs run and none share.
  virtual bool renews(VcId vc) const {
    static_cast<void>(vc);
    return false;
  }

  /// Names those of `jobs` that stay where they are, and CPU jobs; gives the others.
  std::vector<JobId> keep(std::span<const JobId> jobs, Deal& deal, const View& view,
                          std::vector<Wish>& wishes) const;
  /// The same, with the others in `open`.
  void keep(std::span<const JobId> jobs, Deal& deal, const View& view, std::vector<Wish>& wishes,
            std::vector<JobId>& open) const;
  /// Where wishes may name jobs beside another: names the jobs of each group of the last decision
  /// that still run, if any of them stays where it is, and CPU jobs; gives the others.
  std::vector<JobId> keep_groups(Deal& deal, const View& view, std::vector<Wish>& wishes);
  /// Jobs that were to run beside each other, or alone, by the last decision.
  std::span<const std::vector<JobId>> groups(VcId vc) { return vcs_[index(vc)].groups; }

  Duration lease() const { return lease_; }

  /// When a program last divided time, and among which jobs.
  struct Division {
    Time at = kNoTime;
    std::vector<JobId> jobs{};  ///< In order of number.
  };
  /// Whether a program must divide time again: it never has; or jobs have come or gone since and
  /// the last division is `reset` old; or a lease begins in which a job waits and a job that came
  /// since has no part. So a job never waits for `reset` because it came late.
  static bool is_outdated(const Division& last, const Deal& deal, Duration reset, const View& view);
  static Division division_of(const Deal& deal, const View& view);

 private:
  struct Vc {
    std::vector<JobId> jobs;                 // at the last decision
    std::vector<std::vector<JobId>> groups;  // as last wished, where jobs may be beside each other
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
  JobMarks there_;  // of keep_groups()
  JobMarks named_;
  std::vector<Vc> vcs_;  // by VcId
};

}  // namespace almanac::policy
