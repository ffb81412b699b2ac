// SPDX-License-Identifier: Apache-2.0

/// \file
/// Demands that found no place, so that no job of them is tried again in vain.
#pragma once

#include <algorithm>
#include <vector>

#include "cluster/ledger.h"

namespace almanac::policy {

/// Holds for as long as nothing comes free.
class Unmet {
 public:
  void add(const cluster::Demand& demand) { demands_.push_back(demand); }
  void clear() { demands_.clear(); }
  /// Once a demand cannot be met, none can that covers it.
  bool rules_out(const cluster::Demand& demand) const {
    return std::any_of(demands_.begin(), demands_.end(),
                       [&](const cluster::Demand& unmet) { return demand.covers(unmet); });
  }

 private:
  std::vector<cluster::Demand> demands_;
};

}  // namespace almanac::policy
