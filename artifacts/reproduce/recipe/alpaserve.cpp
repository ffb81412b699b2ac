// SPDX-License-Identifier: Apache-2.0

/// \file
/// AlpaServe: models on pipelines that they share.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_alpaserve(Recipes& registry);

void register_alpaserve(Recipes& registry) {
  registry.add(served("alpaserve",
                      "requests through groups of GPUs, and placements of models on them",
                      "Li et al., OSDI'23 (AlpaServe)", Kind::rerun, inference::compare_alpaserve));
}

}  // namespace almanac::reproduce
