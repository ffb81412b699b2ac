// SPDX-License-Identifier: Apache-2.0

/// \file
/// iGniter: shares of GPUs by predicted interference.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_igniter(Recipes& registry);

void register_igniter(Recipes& registry) {
  registry.add(served("igniter", "what residents of a GPU see, and plans of mixes",
                      "Xu et al., TPDS'22 (iGniter)", Kind::rerun, inference::compare_igniter));
}

}  // namespace almanac::reproduce
