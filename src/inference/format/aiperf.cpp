// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests that aiperf sent, from its record of each request.
#include "inference/registry.h"
#include "inference/tool_results.h"

namespace almanac::inference::format {

void register_aiperf(Registry& registry) {
  registry.formats.add({.name = "aiperf",
                        .summary = "JSON lines: metadata.request_start_ns, "
                                   "metrics.input_sequence_length and output_sequence_length",
                        .source = "ai-dynamo/aiperf: profile_export.jsonl",
                        .make = {.knows =
                                     [](std::string_view line) {
                                       return line.starts_with("{") &&
                                              line.find("\"request_start_ns\"") != line.npos;
                                     },
                                 .read = read_aiperf}});
}

}  // namespace almanac::inference::format
