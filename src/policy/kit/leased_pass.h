// SPDX-License-Identifier: Apache-2.0

/// \file
/// What all passes of leases need: when a lease begins, and when that is all that happens.
#pragma once

#include <utility>
#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Ranks and deals out a virtual cluster anew at `phase` and every `lease` after it.
class LeasedPass : public Pass {
 public:
  LeasedPass(Desk& desk, Duration lease, Duration phase)
      : desk_(desk), lease_(lease), phase_(phase) {}

  PassNeeds needs() const override {
    return {.running = RunningRank::of_order, .whole_gpus = true};
  }

  void run(VcState& vc) final {
    const Time begun = begun_at_or_before(desk_.now());
    const bool renews = begun == desk_.now() && is_new(vc.vc);
    renews ? renew(vc) : between(vc);
    // A job that was stopped joins the queue at the next decision.
    if (desk_.plan().num_stops() > 0) desk_.plan().wake(desk_.now());
    // Jobs for which a whole lease finds no place though nothing runs wait for an event: time alone
    // does not help them.
    const bool may_start = !vc.waiting.empty() && (!renews || waits_for_a_lease(vc));
    if (may_start || !vc.running.empty()) desk_.plan().wake(begun + lease_);
  }

  void timer(std::span<VcState> vcs, std::vector<VcId>& need) final {
    for (const VcState& vc : vcs) {
      if (!vc.waiting.empty() || !vc.running.empty()) need.push_back(vc.vc);
    }
  }

  /// A job that fits waits for the next lease, unless it waits for another job.
  Reason blocker(const VcState& vc, JobId job) const final {
    const JobId first = vc.waiting.first().jobs.front().job;
    return {.kind = first == job ? ReasonKind::next_lease : ReasonKind::behind,
            .other = first == job ? kNoJob : first};
  }

 protected:
  virtual void renew(VcState& vc) = 0;
  /// What can be done before the next lease.
  virtual void between(VcState& vc) { static_cast<void>(vc); }
  /// Whether a job waits for a lease to come, whatever room there is now.
  virtual bool waits_for_a_lease(const VcState& vc) const {
    static_cast<void>(vc);
    return false;
  }

  Desk& desk_;

 private:
  /// Whether this is the first decision of a lease.
  bool is_new(VcId vc) {
    if (renewed_.size() <= index(vc)) renewed_.resize(index(vc) + 1, kNoTime);
    return std::exchange(renewed_[index(vc)], desk_.now()) != desk_.now();
  }

  Time begun_at_or_before(Time now) const {
    const Duration since = now.time_since_epoch() - phase_;
    Duration leases = (since / lease_) * lease_;
    if (leases > since) leases -= lease_;
    return Time{phase_ + leases};
  }

  Duration lease_;
  Duration phase_;
  std::vector<Time> renewed_;  // of each virtual cluster
};

}  // namespace almanac::policy
