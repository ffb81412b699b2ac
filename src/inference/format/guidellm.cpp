// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests that GuideLLM sent, from its JSON report.
#include "inference/registry.h"
#include "inference/tool_results.h"

namespace almanac::inference::format {

void register_guidellm(Registry& registry) {
  registry.formats.add({.name = "guidellm",
                        .summary = "JSON report: benchmarks with requests.successful",
                        .source = "vllm-project/guidellm: benchmarks.json",
                        .make = {.knows =
                                     [](std::string_view line) {
                                       return line.starts_with("{") &&
                                              line.find("\"input_length\"") == line.npos &&
                                              (line.find("\"benchmarks\"") != line.npos ||
                                               line.find("guidellm") != line.npos);
                                     },
                                 .read = read_guidellm}});
}

}  // namespace almanac::inference::format
