// SPDX-License-Identifier: Apache-2.0

/// \file
/// Mooncake's requests as a table, with the blocks that prompts share.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_mooncake_table(Registry& registry) {
  registry.formats.add(
      {.name = "mooncake_table",
       .summary = "timestamp_ms, input_tokens, output_tokens, block_ids",
       .source = "Qin et al. FAST'25 (Mooncake)",
       .make = {.knows =
                    [](std::string_view header) {
                      return has_columns(header, {"timestamp_ms", "input_tokens", "output_tokens"});
                    },
                .read =
                    [](const std::string& path) {
                      return read_table(path, {.arrival = "timestamp_ms",
                                               .prompt = "input_tokens",
                                               .output = "output_tokens",
                                               .blocks = "block_ids",
                                               .micros = 1e3,
                                               .block = {.tokens = 512}});
                    }}});
}

}  // namespace almanac::inference::format
