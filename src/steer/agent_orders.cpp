// SPDX-License-Identifier: Apache-2.0
#include "steer/agent_orders.h"

namespace almanac::steer {

Agents::Orders orders_of(const Claims& claims) {
  Agents::Orders made;
  for (const auto& [job, claim] : claims.of<CoresChange>().jobs()) {
    for (const auto& [node, cores] : claim.value) made[node].push_back({job, cores});
  }
  return made;
}

}  // namespace almanac::steer
