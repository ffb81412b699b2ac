// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests to Qwen at Alibaba's Bailian: one JSON object per line, as Mooncake's, with the chat of
/// each request, but in seconds and with ids of 16 tokens.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_bailian(Registry& registry) {
  registry.formats.add({.name = "bailian",
                        .summary = "JSON lines: chat_id, parent_chat_id, timestamp (s), "
                                   "input_length, output_length, turn, hash_ids",
                        .source = "Qwen-Bailian usage traces; Wang et al. ATC'25",
                        .make = {.knows =
                                     [](std::string_view line) {
                                       return line.starts_with("{") &&
                                              line.find("\"input_length\"") != line.npos &&
                                              (line.find("\"chat_id\"") != line.npos ||
                                               line.find("\"parent_chat_id\"") != line.npos);
                                     },
                                 .read =
                                     [](const std::string& path) {
                                       return read_json_lines(path, {.arrival = "timestamp",
                                                                     .prompt = "input_length",
                                                                     .output = "output_length",
                                                                     .blocks = "hash_ids",
                                                                     .micros = 1e6,
                                                                     .may_be_other = true,
                                                                     .block = {.tokens = 16}});
                                     }}});
}

}  // namespace almanac::inference::format
