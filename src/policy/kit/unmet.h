// SPDX-License-Identifier: Apache-2.0

/// \file
/// Demands that found no place, so that no job of them is tried again in vain.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "policy/kit/desk.h"

namespace almanac::policy {

/// Holds for as long as nothing comes free.
class Unmet {
 public:
  void add(const cluster::Demand& demand) {
    if (!demands_.empty()) {
      std::erase_if(demands_, [&](const cluster::Demand& known) { return known.covers(demand); });
    }
    demands_.push_back(demand);
    fewest_gpus_ = std::min(fewest_gpus_, demand.gpus);
  }
  /// The same of a class that waits in `vc`. If not even the least has a place that any job asks
  /// beside as many GPUs, no job that asks as many is tried.
  void add(Desk& desk, const VcState& vc, const WaitingQueue::Class& own) {
    add(own.demand);
    // To a placement that draws a try is one too many: see Placement::draws().
    if (vc.waiting.has_few_demands() || desk.placement().draws()) return;
    const cluster::Demand least = vc.waiting.least_like(own);
    if (least != own.demand && !desk.fits(vc.vc, least)) add(least);
  }
  void clear() {
    demands_.clear();
    fewest_gpus_ = kNone;
  }
  /// Forgets those of which `met(demand)`; gives whether there were any.
  template <typename Met>
  bool erase_if(Met&& met) {
    return std::erase_if(demands_, met) > 0;
  }
  /// Once a demand cannot be met, none can that covers it.
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
  int fewest_gpus_ = kNone;               // of them, or fewer
};

}  // namespace almanac::policy
