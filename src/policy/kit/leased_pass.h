// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of all passes with leases: when a lease begins, and when nothing else happens.
#pragma once

#include <utility>
#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Ranks and reallocates a virtual cluster at `phase` and every `lease` after that.
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
    // Jobs that find no place in a whole lease although nothing runs wait for an event: time alone
    // does not help them.
    const bool may_start = !vc.waiting.empty() && (!renews || waits_for_a_lease(vc));
    if (may_start || !vc.running.empty()) desk_.plan().wake(begun + lease_);
  }

  void timer(std::span<VcState> vcs, std::vector<VcId>& need) final {
    for (const VcState& vc : vcs) {
      if (!vc.waiting.empty() || !vc.running.empty()) need.push_back(vc.vc);
    }
  }

  /// A job that fits waits for the next lease, unless another job is before it.
  Reason blocker(const VcState& vc, JobId job) const final {
    const JobId first = vc.waiting.first().jobs.front().job;
    return {.kind = first == job ? ReasonKind::next_lease : ReasonKind::behind,
            .other = first == job ? kNoJob : first};
  }

 protected:
  virtual void renew(VcState& vc) = 0;
  /// Does what is possible before the next lease.
  virtual void between(VcState& vc) { static_cast<void>(vc); }
  /// Whether a job waits for a future lease, whatever room there is now.
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
  std::vector<Time> renewed_;  // by virtual cluster
};

}  // namespace almanac::policy
