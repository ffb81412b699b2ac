// SPDX-License-Identifier: Apache-2.0

/// \file
/// One decision: what is known, and the current plan.
#pragma once

#include <span>

#include "policy/contract/contract.h"

namespace almanac::policy {

class OpenDecision {
 public:
  struct Bound {
    const View* view = nullptr;
    Plan* plan = nullptr;
  };
  Bound bound() const { return {view_, plan_}; }
  /// Continues with the view and the plan of another decision.
  void bind(const Bound& to) {
    view_ = to.view;
    plan_ = to.plan;
  }
  const View& view() const { return *view_; }
  Plan& plan() { return *plan_; }
  cluster::Ledger& ledger() { return plan_->ledger; }
  Time now() const { return view_->now; }

  /// Whether a job runs and does not start or move in this plan.
  bool runs(JobId job) const {
    return view_->progress(job).phase == Phase::running && !starts(job);
  }
  /// Whether a job starts or moves in this plan.
  bool starts(JobId job) const {
    const Plan::Change* const change = plan_->find(job);
    return change != nullptr &&
           (change->action == Plan::Action::start || change->action == Plan::Action::move);
  }
  /// Returns what a running job holds, even if it starts in this plan.
  std::span<const cluster::Grant> grants(JobId job) const {
    const Plan::Change* const change = plan_->find(job);
    if (change != nullptr && change->num_grants > 0) return plan_->grants(*change);
    return view_->grants(job);
  }
  /// Whether quotas have room for one more job of `demand`.
  bool is_within_quotas(const cluster::Demand& demand) const {
    return plan_->quotas == nullptr || plan_->quotas->has_room(demand.claim);
  }

 protected:
  const View* view_ = nullptr;
  Plan* plan_ = nullptr;
};

}  // namespace almanac::policy
