// SPDX-License-Identifier: Apache-2.0
#include "steer/decision.h"

#include <algorithm>

namespace almanac::steer {

const slurm::Job* Decision::find(slurm::JobNumber job, const Mirror& mirror) const {
  if (const slurm::Job* const known = mirror.find(job)) return known;
  const auto told = std::find_if(announced.begin(), announced.end(),
                                 [&](const slurm::Job& each) { return each.number == job; });
  return told == announced.end() ? nullptr : &*told;
}

}  // namespace almanac::steer
