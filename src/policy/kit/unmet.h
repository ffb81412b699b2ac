// SPDX-License-Identifier: Apache-2.0

/// \file
/// Demands that found no place, so that no job with one of them is tried in vain.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Valid as long as nothing becomes free.
class Unmet {
 public:
  void add(const cluster::Demand& demand) {
    if (!demands_.empty()) {
      std::erase_if(demands_, [&](const cluster::Demand& known) { return known.covers(demand); });
    }
    demands_.push_back(demand);
    fewest_gpus_ = std::min(fewest_gpus_, demand.gpus);
  }
  /// Adds the demand of a class that waits in `vc`. If even the least that any job requests with
  /// the same number of GPUs has no place, no job with as many GPUs is tried.
  void add(Desk& desk, const VcState& vc, const WaitingQueue::Class& own) {
    add(own.demand);
    // One try too many changes the draws of a placement that draws: see Placement::draws().
    if (vc.waiting.has_few_demands() || desk.placement().draws()) return;
    const cluster::Demand least = vc.waiting.least_like(own);
    if (least != own.demand && !desk.fits(vc.vc, least)) add(least);
  }
  void clear() {
    demands_.clear();
    fewest_gpus_ = kNone;
  }
  /// Forgets demands for which `met(demand)` is true. Returns whether there were any.
  template <typename Met>
  bool erase_if(Met&& met) {
    return std::erase_if(demands_, met) > 0;
  }
  /// Whether a demand cannot be met because it covers an unmet one.
  bool rules_out(const cluster::Demand& demand) const {
    if (demand.gpus < fewest_gpus_) return false;
    for (const cluster::Demand& unmet : demands_) {
      if (demand.covers(unmet)) return true;
    }
    return false;
  }

 private:
  static constexpr int kNone = std::numeric_limits<int>::max();

  std::vector<cluster::Demand> demands_;  // none covers another
  int fewest_gpus_ = kNone;               // of these demands, or fewer
};

}  // namespace almanac::policy
