// SPDX-License-Identifier: Apache-2.0

/// \file
/// Every node stays on.
#include "policy/registry.h"

namespace almanac::policy::capacity {

void register_all(Registry& registry) {
  registry.capacities.add({"all", "every node stays on", "common practice"},
                          [](const Parameters&) { return nullptr; });
}

}  // namespace almanac::policy::capacity
