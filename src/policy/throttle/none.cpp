// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nobody is slowed.
#include "policy/registry.h"

namespace almanac::policy::throttle {

void register_none(Registry& registry) {
  registry.add_throttle({"none", "nobody is slowed", "common practice"},
                        [](const Composition&) { return nullptr; });
}

}  // namespace almanac::policy::throttle
