// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts the jobs that fit, past those that do not.
#pragma once

#include <vector>

#include "policy/kit/desk.h"
#include "policy/kit/unmet.h"

namespace almanac::policy {

/// Starts the fitting jobs among those that `first` names, in order of rank. `first` returns the
/// first job of one demand to try, or null. Returns the jobs that started.
///
/// Cost     O(log waiting demands) per start. A demand that does not fit is tried once. If the
///          least that any job requests with the same number of GPUs does not fit, no other of
///          these demands is tried.
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
