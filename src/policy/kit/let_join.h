// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets waiting jobs join others on their GPUs, as the packing decides.
#pragma once

#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Tries jobs for which `may(job)` is true in order of rank. Cost: a search for a host per job.
template <typename May>
void let_join(Desk& desk, VcState& vc, May&& may) {
  if (!desk.packs()) return;
  std::vector<JobId> waiting;
  for (WaitingQueue::Walk at(vc.waiting); !at.at_end(); at.advance()) {
    if (may(at.job())) waiting.push_back(at.job());
  }
  for (const JobId job : waiting) {
    const auto grants = desk.join(vc.vc, job);
    if (!grants.empty()) desk.start(vc, job, grants);
  }
}

inline void let_join(Desk& desk, VcState& vc) {
  let_join(desk, vc, [](JobId) { return true; });
}

}  // namespace almanac::policy
