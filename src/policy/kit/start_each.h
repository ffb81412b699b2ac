// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts the jobs that fit, past those that do not.
#pragma once

#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/unmet.h"

namespace almanac::policy {

/// Starts those that fit of the jobs that `first` names, the first to be tried of the jobs of one
/// demand or null, in order of rank; gives those that started.
///
/// Cost: O(log demands that wait) a start. A demand that does not fit is tried once, and where the
/// least that any job asks beside as many GPUs does not fit, no other of these demands is.
template <typename First>
std::vector<JobId> start_each(Desk& desk, VcState& vc, First&& first) {
  std::vector<JobId> started;
  Unmet unmet;
  for (;;) {
    const auto [from, entry] =
        vc.waiting.first_of([&](const cluster::Demand& demand) { return unmet.rules_out(demand); },
                            [&](const WaitingQueue::Class& each) { return first(each.jobs); });
    if (from == nullptr) return started;
    const auto grants = desk.place(vc.vc, from->demand);
    if (grants.empty()) {
      unmet.add(desk, vc, *from);
      continue;
    }
    started.push_back(entry->job);
    desk.start(vc, *entry, grants);
  }
}

}  // namespace almanac::policy
