// SPDX-License-Identifier: Apache-2.0

/// \file
/// The output of the generator ServeGen.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_servegen(Registry& registry) {
  registry.formats.add(
      {.name = "servegen",
       .summary = "timestamp_s, input_tokens, output_tokens",
       .source = "Xiang et al. 2025 (ServeGen)",
       .make = {.knows =
                    [](std::string_view header) {
                      return has_columns(header, {"timestamp_s", "input_tokens", "output_tokens"});
                    },
                .read =
                    [](const std::string& path) {
                      return read_table(path, {.arrival = "timestamp_s",
                                               .prompt = "input_tokens",
                                               .output = "output_tokens"});
                    }}});
}

}  // namespace almanac::inference::format
