// SPDX-License-Identifier: Apache-2.0

/// \file
/// gpulet: models on parts of GPUs.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_gpulet(Recipes& registry);

void register_gpulet(Recipes& registry) {
  registry.add(served("gpulet", "parts of GPUs that gpulet gives to models, and their batches",
                      "Choi et al., ATC'22 (gpulet)", Kind::rerun, inference::compare_gpulet));
}

}  // namespace almanac::reproduce
