// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests that vLLM's benchmark sent, from its detailed result.
#include "inference/registry.h"
#include "inference/tool_results.h"

namespace almanac::inference::format {

void register_vllm_bench(Registry& registry) {
  registry.formats.add({.name = "vllm-bench",
                        .summary = "JSON result: start_times, input_lens, output_lens",
                        .source = "vllm-project/vllm: vllm bench serve --save-detailed",
                        .make = {.knows =
                                     [](std::string_view line) {
                                       const auto has = [&](std::string_view field) {
                                         return line.find(field) != line.npos;
                                       };
                                       return line.starts_with("{") &&
                                              (has("\"start_times\"") || has("\"input_lens\"") ||
                                               (has("\"num_prompts\"") && has("\"request_rate\"")));
                                     },
                                 .read = read_vllm_bench}});
}

}  // namespace almanac::inference::format
