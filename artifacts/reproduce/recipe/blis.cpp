// SPDX-License-Identifier: Apache-2.0

/// \file
/// One engine as inference-sim has it.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_blis(Recipes& registry);

void register_blis(Recipes& registry) {
  registry.add(served("blis", "iterations, requests and sessions of inference-sim, one by one",
                      "inference-sim (BLIS)", Kind::rerun, inference::compare_blis));
}

}  // namespace almanac::reproduce
