// SPDX-License-Identifier: Apache-2.0

/// \file
/// No throttling.
#include "policy/registry.h"

namespace almanac::policy::throttle {

void register_none(Registry& registry) {
  registry.throttles.add({"none", "no throttling", "common practice"},
                         [](const Parameters&) { return nullptr; });
}

}  // namespace almanac::policy::throttle
