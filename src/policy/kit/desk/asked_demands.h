// SPDX-License-Identifier: Apache-2.0

/// \file
/// The demand that a job requests for now, of those that it accepts (View::acceptable()).
#pragma once

#include <set>
#include <unordered_map>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Stores only jobs that accept several demands; for all others a lookup finds an empty table.
class AskedDemands {
 public:
  /// Adds a waiting job that must choose; it requests its best demand until set() changes that.
  /// Returns what it requests; null if it accepts only one demand.
  const Acceptable* enter(JobId job, const View& view);
  /// Records the choice of a job that already runs.
  void set(JobId job, const Acceptable& chosen) { chosen_[job] = chosen; }
  DemandId asked(JobId job, const View& view) const {
    if (chosen_.empty()) return view.progress(job).demand;
    const auto found = chosen_.find(job);
    return found == chosen_.end() ? view.progress(job).demand : found->second.demand;
  }
  /// Returns the jobs that wait, by number.
  const std::set<JobId>& undecided() const { return undecided_; }
  /// Records that a job runs: its request is now what it has.
  void started(JobId job) {
    if (!undecided_.empty()) undecided_.erase(job);
  }
  /// Forgets a job that neither waits nor runs.
  void forget(JobId job) {
    if (chosen_.empty()) return;
    chosen_.erase(job);
    undecided_.erase(job);
  }

 private:
  std::unordered_map<JobId, Acceptable> chosen_;
  std::set<JobId> undecided_;
};

inline const Acceptable* AskedDemands::enter(JobId job, const View& view) {
  const auto acceptable = view.acceptable(job);
  if (acceptable.empty()) return nullptr;
  if (view.progress(job).phase == Phase::waiting) undecided_.insert(job);
  return &chosen_.try_emplace(job, acceptable.front()).first->second;
}

}  // namespace almanac::policy
