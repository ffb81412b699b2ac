// SPDX-License-Identifier: Apache-2.0

/// \file
/// A bound on the wait of each job: `factor` times its wait under EASY, plus `grace`. A job that
/// has waited for so long is overdue and goes before all others, the one that became overdue first
/// at the head.
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

namespace almanac::policy {

class WaitBound {
 public:
  WaitBound(double factor, Duration grace) : factor_(factor), grace_(grace) {}

  void arrived(Desk& desk, JobId job);
  /// Tells of a job that runs already: it does so under EASY, too.
  void adopted(Desk& desk, JobId job);
  void ended(Desk& desk, JobId job);
  void withdrawn(Desk& desk, JobId job);
  void capacity_changed(Desk& desk);
  /// Calls `known(job)` for each job whose wait under EASY has become known up to now.
  void advance(Desk& desk, const std::function<void(JobId)>& known);

  /// Returns when a job is overdue if it does not run until then; kNever = not known yet.
  Time overdue_at(const Candidate& job) const;

 private:
  ShadowEasy& easy(Desk& desk);

  double factor_;
  Duration grace_;
  std::optional<ShadowEasy> easy_;   // once there is a view
  std::vector<Time> waited_enough_;  // of each job: when, if it had not run meanwhile
};

/// Ranks as `order` does, but overdue jobs first. `bound` must outlive it.
std::unique_ptr<Order> overdue_first(std::unique_ptr<Order> order, const WaitBound& bound);

}  // namespace almanac::policy
