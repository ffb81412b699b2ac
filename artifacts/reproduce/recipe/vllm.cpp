// SPDX-License-Identifier: Apache-2.0

/// \file
/// vLLM servers that others measured, and what the simulation says of them.
#include "reproduce/served.h"

namespace almanac::reproduce {

void register_vllm(Recipes& registry);

void register_vllm(Recipes& registry) {
  registry.add(served("vllm", "measured runs of vLLM servers, and how far the roofline is off",
                      "inference-sim's validation runs; inference-perf", Kind::measured,
                      inference::compare_vllm, "data/llm/league/*"));
}

}  // namespace almanac::reproduce
