// SPDX-License-Identifier: Apache-2.0

/// \file
/// MIG: which instances stand beside which.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_mig(Recipes& registry);

void register_mig(Recipes& registry) {
  registry.add(served("mig", "states of a GPU in instances, and operations on it",
                      "NVIDIA's profile tables, enumerated", Kind::second, inference::compare_mig));
}

}  // namespace almanac::reproduce
