// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cores and memory that the job requests.
#include "policy/registry.h"

namespace almanac::policy::size {

void register_asked(Registry& registry) {
  registry.sizes.add({"asked", "the cores and memory that the job requests", "common practice"},
                     [](const Parameters&) { return nullptr; });
}

}  // namespace almanac::policy::size
