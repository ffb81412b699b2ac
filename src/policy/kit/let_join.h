// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets jobs that still wait join others on their GPUs, as the packing says.
#pragma once

#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// In order of rank, those of which `may(job)` is so. Cost: a search for a host for each.
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
