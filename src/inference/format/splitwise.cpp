// SPDX-License-Identifier: Apache-2.0

/// \file
/// The input of Splitwise's simulator.
#include "inference/registry.h"
#include "inference/request_log.h"

namespace almanac::inference::format {

void register_splitwise(Registry& registry) {
  registry.formats.add(
      {.name = "splitwise",
       .summary = "arrival_timestamp, prompt_size, token_size",
       .source = "Patel et al. ISCA'24, splitwise-sim",
       .make = {
           .knows =
               [](std::string_view header) {
                 return has_columns(header, {"arrival_timestamp", "prompt_size", "token_size"});
               },
           .read =
               [](const std::string& path) {
                 return read_table(path, {.arrival = "arrival_timestamp",
                                          .prompt = "prompt_size",
                                          .output = "token_size"});
               }}});
}

}  // namespace almanac::inference::format
