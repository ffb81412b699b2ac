// SPDX-License-Identifier: Apache-2.0

/// \file
/// ServeGen: requests as the sum of what clients send.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_servegen(Recipes& registry);

void register_servegen(Recipes& registry) {
  registry.add(served("servegen", "requests drawn from clients, by their distributions",
                      "Xiang et al., 2025 (ServeGen)", Kind::rerun, inference::compare_servegen));
}

}  // namespace almanac::reproduce
