// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests to Azure's language models, 2023 and 2024.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_azure_llm(Registry& registry) {
  registry.formats.add(
      {.name = "azure_llm",
       .summary = "TIMESTAMP, ContextTokens, GeneratedTokens",
       .source = "Azure public dataset; Patel et al. ISCA'24, Stojkovic et al. HPCA'25",
       .make = {.knows =
                    [](std::string_view header) {
                      return has_columns(header, {"TIMESTAMP", "ContextTokens", "GeneratedTokens"});
                    },
                .read =
                    [](const std::string& path) {
                      return read_table(path, {.arrival = "TIMESTAMP",
                                               .prompt = "ContextTokens",
                                               .output = "GeneratedTokens",
                                               .micros = 0});
                    }}});
}

}  // namespace almanac::inference::format
