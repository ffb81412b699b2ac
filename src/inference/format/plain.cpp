// SPDX-License-Identifier: Apache-2.0

/// \file
/// The simplest table of requests.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_plain(Registry& registry) {
  registry.formats.add(
      {.name = "plain",
       .summary = "arrival_s, prompt_tokens, output_tokens; optional: model, tenant, adapter, "
                  "block_ids (of 512 tokens)",
       .source = "",
       .make = {.knows =
                    [](std::string_view header) {
                      return has_columns(header, {"arrival_s", "prompt_tokens", "output_tokens"});
                    },
                .read =
                    [](const std::string& path) {
                      return read_table(
                          path, {.arrival = "arrival_s",
                                 .prompt = "prompt_tokens",
                                 .output = "output_tokens",
                                 .blocks = "block_ids",
                                 .model = "model",
                                 .tenant = "tenant",
                                 .adapter = "adapter",
                                 .block = {.tokens = kPlainBlockTokens, .only_heads = true}});
                    }}});
}

}  // namespace almanac::inference::format
