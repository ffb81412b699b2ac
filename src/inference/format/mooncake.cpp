// SPDX-License-Identifier: Apache-2.0

/// \file
/// Mooncake's requests as published: one JSON object per line, in milliseconds, with ids of 512
/// tokens. Other logs have the same keys with other block sizes or in seconds, which the log itself
/// shows.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_mooncake(Registry& registry) {
  registry.formats.add(
      {.name = "mooncake",
       .summary = "JSON lines: timestamp (ms), input_length, output_length, hash_ids",
       .source = "Qin et al. FAST'25 (Mooncake)",
       .make = {.knows =
                    [](std::string_view line) {
                      return line.starts_with("{") && line.find("\"input_length\"") != line.npos;
                    },
                .read =
                    [](const std::string& path) {
                      return read_json_lines(path, {.arrival = "timestamp",
                                                    .prompt = "input_length",
                                                    .output = "output_length",
                                                    .blocks = "hash_ids",
                                                    .micros = 1e3,
                                                    .may_be_other = true,
                                                    .block = {.tokens = 512}});
                    }}});
}

}  // namespace almanac::inference::format
