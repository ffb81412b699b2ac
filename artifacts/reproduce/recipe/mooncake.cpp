// SPDX-License-Identifier: Apache-2.0

/// \file
/// Mooncake: what a store of KV blocks saves.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_mooncake(Recipes& registry);

void register_mooncake(Recipes& registry) {
  registry.add(served("mooncake", "blocks of prompts that a pool of some capacity has",
                      "Qin et al., FAST'25 (Mooncake)", Kind::second, inference::compare_mooncake));
}

}  // namespace almanac::reproduce
