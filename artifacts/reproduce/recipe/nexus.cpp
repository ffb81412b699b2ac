// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nexus: sessions in duty cycles.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_nexus(Recipes& registry);

void register_nexus(Recipes& registry) {
  registry.add(served("nexus", "batches, duty cycles, placements and splits of Nexus",
                      "Shen et al., SOSP'19 (Nexus)", Kind::rerun, inference::compare_nexus));
}

}  // namespace almanac::reproduce
