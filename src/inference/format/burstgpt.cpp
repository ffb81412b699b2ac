// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests to ChatGPT and GPT-4 at a university, without those that were not answered.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_burstgpt(Registry& registry) {
  registry.formats.add(
      {.name = "burstgpt",
       .summary = "Timestamp, Request tokens, Response tokens",
       .source = "Wang et al. KDD'25 (BurstGPT)",
       .make = {
           .knows =
               [](std::string_view header) {
                 return has_columns(header, {"Timestamp", "Request tokens", "Response tokens"});
               },
           .read =
               [](const std::string& path) {
                 return read_table(path, {.arrival = "Timestamp",
                                          .prompt = "Request tokens",
                                          .output = "Response tokens",
                                          .skip_unanswered = true});
               }}});
}

}  // namespace almanac::inference::format
