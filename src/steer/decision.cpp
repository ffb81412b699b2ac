// SPDX-License-Identifier: Apache-2.0
#include "steer/decision.h"

#include <algorithm>

namespace almanac::steer {

const manager::Job* Decision::find(manager::JobNumber job, const Mirror& mirror) const {
  if (const manager::Job* const known = mirror.find(job)) return known;
  const auto told = std::find_if(announced.begin(), announced.end(),
                                 [&](const manager::Job& each) { return each.number == job; });
  return told == announced.end() ? nullptr : &*told;
}

}  // namespace almanac::steer
