// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which of the demands that will do for it a job asks for now (View::acceptable()).
#pragma once

#include <set>
#include <unordered_map>

#include "policy/contract/contract.h"

namespace almanac::policy {

/// Knows only jobs that accept several: of all others it costs a look at an empty table.
class AskedDemands {
 public:
  /// A job that waits is to choose: it asks for the best until it is told otherwise. Gives what it
  /// asks for; null = it accepts one demand alone.
  const Acceptable* enter(JobId job, const View& view);
  /// A job that runs already is said to have chosen.
  void set(JobId job, const Acceptable& chosen) { chosen_[job] = chosen; }
  DemandId asked(JobId job, const View& view) const {
    if (chosen_.empty()) return view.progress(job).demand;
    const auto found = chosen_.find(job);
    return found == chosen_.end() ? view.progress(job).demand : found->second.demand;
  }
  /// Those that wait, in order of number.
  const std::set<JobId>& undecided() const { return undecided_; }
  /// It runs: what it asks for is what it has.
  void started(JobId job) {
    if (!undecided_.empty()) undecided_.erase(job);
  }
  /// It neither waits nor runs.
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
