// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sets waiting jobs aside for which a quota has no room: no job waits behind them, and no pass
/// sees them until another job releases enough of the quota.
///
/// A pass sees them as withdrawn and, later, as arriving again. Slurm does the same: a job at a
/// limit blocks no other.
#pragma once

#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Cost     O(demands that ever waited) per decision and per start; O(waiting jobs of a demand)
///          when one is set aside or returns
class QuotaKeeper {
 public:
  /// Adds the virtual clusters in which a job is set aside, or returns, to `regrouped`; the caller
  /// must run them again.
  QuotaKeeper(Desk& desk, Pass& pass, std::vector<VcState>& vcs, std::vector<VcId>& regrouped)
      : desk_(desk), pass_(pass), vcs_(vcs), regrouped_(regrouped) {}

  /// Checks all waiting jobs. Call before the passes run.
  void look();
  /// Records the start of a job with `claim`: sets aside other jobs for which this leaves no room.
  void started(ClaimId claim);

 private:
  void put_aside(VcState& vc, const WaitingQueue::Class& own);
  void take_back(VcState& vc, const WaitingQueue::Class& own);

  Desk& desk_;
  Pass& pass_;
  std::vector<VcState>& vcs_;
  std::vector<VcId>& regrouped_;
};

}  // namespace almanac::policy
