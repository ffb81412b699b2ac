// SPDX-License-Identifier: Apache-2.0

/// \file
/// A bound on the wait of each job: `factor` times its wait under EASY, plus `grace`. A job that
/// has waited longer is overdue and goes before all others, the one that became overdue first
/// at the head. A job is overdue, too, if its user's jobs have waited too long in total
/// (user_waits.h). This is checked when the wait of the job under EASY becomes known, and again at
/// the time at which the job would be overdue according to that check.
///
/// Source   ours. Talby & Feitelson, IPPS'99 (slack-based backfilling) bound the delay of a job
///          against its reservation; here the yardstick is EASY.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/pass/preempt/shadow_easy.h"
#include "policy/pass/preempt/user_waits.h"

namespace almanac::policy {

class WaitBound {
 public:
  /// `factor` and `grace` bound the wait of a job, `user_grace` the mean wait of a user.
  WaitBound(double factor, Duration grace, Duration user_grace)
      : factor_(factor), grace_(grace), users_(user_grace) {}

  void arrived(Desk& desk, JobId job);
  /// Adds a job that runs already: it does so under EASY, too.
  void adopted(Desk& desk, JobId job);
  /// A job starts now; it may have run before.
  void started(Desk& desk, JobId job);
  void ended(Desk& desk, JobId job);
  void withdrawn(Desk& desk, JobId job);
  void capacity_changed(Desk& desk);
  /// Calls `known(job, at)` for each job whose wait under EASY has become known up to now: it must
  /// be ranked again at that time, when it may be overdue.
  void advance(Desk& desk, const std::function<void(JobId, Time)>& known);

  /// Returns when a waiting job is overdue if it does not run until then; kNever = not known yet.
  Time overdue_at(const Candidate& job) const;

 private:
  ShadowEasy& easy(Desk& desk);
  Duration expected_left(const Desk& desk, JobId job) const;

  double factor_;
  Duration grace_;
  UserWaits users_;
  std::optional<ShadowEasy> easy_;   // once there is a view
  std::vector<Time> waited_enough_;  // of each job: when, if it had not run meanwhile
  std::vector<Duration> waited_;     // of each job, up to its last start
};

/// Ranks as `order` does, but overdue jobs first. `bound` must outlive it.
std::unique_ptr<Order> overdue_first(std::unique_ptr<Order> order, const WaitBound& bound);

}  // namespace almanac::policy
