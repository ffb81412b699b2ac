// SPDX-License-Identifier: Apache-2.0

/// \file
/// One policy decides for all nodes of all virtual clusters.
#include "policy/registry.h"

namespace almanac::policy::division {

void register_undivided(Registry& registry) {
  registry.divisions.add({"undivided", "one policy decides for all nodes", "common practice"},
                         [](const Parameters&, const Composition&, Host&) { return nullptr; });
}

}  // namespace almanac::policy::division
