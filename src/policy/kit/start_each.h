// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts whoever fits, past those that do not.
#pragma once

#include <vector>

#include "policy/desk.h"
#include "policy/kit/unmet.h"

namespace almanac::policy {

/// Starts those that fit of the jobs that `first` names, the first to be tried of the jobs of one
/// demand or null, in order of rank; gives who started.
///
/// Cost: O(demands that wait) a start; a demand that does not fit is tried once.
template <typename First>
std::vector<JobId> start_each(Desk& desk, VcState& vc, First&& first) {
  std::vector<JobId> started;
  Unmet unmet;
  for (;;) {
    const WaitingQueue::Class* from = nullptr;
    QueueEntry best;
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      if (each.jobs.empty() || unmet.rules_out(each.demand)) continue;
      const QueueEntry* const entry = first(each.jobs);
      if (entry == nullptr || (from != nullptr && !(entry->key < best.key))) continue;
      from = &each;
      best = *entry;
    }
    if (from == nullptr) return started;
    const auto grants = desk.place(vc.vc, from->demand);
    if (grants.empty()) {
      unmet.add(from->demand);
      continue;
    }
    desk.start(vc, best, grants);
    started.push_back(best.job);
  }
}

}  // namespace almanac::policy
