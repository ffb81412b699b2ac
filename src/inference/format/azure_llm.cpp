// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests to Azure's language models, 2023 and 2024. Of those with images (2025), only the text.
#include "inference/registry.h"
#include "inference/request_log.h"
#include "table/csv_reader.h"

namespace almanac::inference::format {
namespace {

/// The log counts images but does not say how many tokens one takes.
void note_images(const std::string& path, Requests& requests) {
  const auto table = table::CsvReader::open_any(path);
  if (!table || !table->find("NumImages")) return;
  requests.notes.emplace_back(
      "NumImages is not used, because the log does not say how many tokens an image takes");
}

}  // namespace

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
                      auto made = read_table(path, {.arrival = "TIMESTAMP",
                                                    .prompt = "ContextTokens",
                                                    .output = "GeneratedTokens",
                                                    .micros = 0});
                      if (made) note_images(path, *made);
                      return made;
                    }}});
}

}  // namespace almanac::inference::format
