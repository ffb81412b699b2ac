// SPDX-License-Identifier: Apache-2.0

/// \file
/// Leaves waiting jobs aside for which a quota has no room: no job waits behind them, and no pass
/// sees them until a job gives back what they want.
///
/// To a pass they are withdrawn and come again. Slurm does the same: a job at a limit holds back no
/// other.
#pragma once

#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Cost: O(demands that ever waited) a decision and a start; where one is put aside or comes back,
/// O(jobs that wait of it).
class QuotaKeeper {
 public:
  /// Virtual clusters in which a job goes aside, or comes back, are added to `regrouped`: they
  /// are to be run again.
  QuotaKeeper(Desk& desk, Pass& pass, std::vector<VcState>& vcs, std::vector<VcId>& regrouped)
      : desk_(desk), pass_(pass), vcs_(vcs), regrouped_(regrouped) {}

  /// Before the passes run: looks at all that wait.
  void look();
  /// A job starts that claims `claim`: others that this leaves no room go aside.
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
