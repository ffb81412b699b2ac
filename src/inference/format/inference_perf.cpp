// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests that inference-perf sent, from its report of each request.
#include "inference/registry.h"
#include "inference/tool_results.h"

namespace almanac::inference::format {

void register_inference_perf(Registry& registry) {
  registry.formats.add(
      {.name = "inference-perf",
       .summary = "JSON list: start_time (s), info with input_tokens and response_metrics",
       .source = "kubernetes-sigs/inference-perf: per_request_lifecycle_metrics.json",
       .make = {.knows =
                    [](std::string_view line) {
                      return line.starts_with("[") && line.find("\"start_time\"") != line.npos &&
                             line.find("\"info\"") != line.npos;
                    },
                .read = read_inference_perf}});
}

}  // namespace almanac::inference::format
