// SPDX-License-Identifier: Apache-2.0

/// \file
/// The input of the simulator Vidur.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_vidur(Registry& registry) {
  registry.formats.add(
      {.name = "vidur",
       .summary = "arrived_at, num_prefill_tokens, num_decode_tokens",
       .source = "Agrawal et al. MLSys'24 (Vidur)",
       .make = {.knows =
                    [](std::string_view header) {
                      return has_columns(header,
                                         {"arrived_at", "num_prefill_tokens", "num_decode_tokens"});
                    },
                .read =
                    [](const std::string& path) {
                      return read_table(path, {.arrival = "arrived_at",
                                               .prompt = "num_prefill_tokens",
                                               .output = "num_decode_tokens"});
                    }}});
}

}  // namespace almanac::inference::format
