// SPDX-License-Identifier: Apache-2.0

/// \file
/// As many GPUs as the job requests, on the nodes that the placement chooses.
#include "policy/registry.h"

namespace almanac::policy::shape {

void register_rigid(Registry& registry) {
  registry.shapes.add(
      {"rigid", "as many GPUs as the job requests, on the nodes that the placement chooses",
       "common practice"},
      [](const Parameters&) { return nullptr; });
}

}  // namespace almanac::policy::shape
