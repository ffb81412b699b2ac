// SPDX-License-Identifier: Apache-2.0

/// \file
/// Mooncake's requests as they were published: one JSON object a line.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/registry.h"
#include "inference/request_log.h"
#include "table/lines.h"

namespace almanac::inference::format {
namespace {

constexpr std::int32_t kTokensPerBlock = 512;

Result<Requests> read(const std::string& path) {
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  RequestIntake intake;
  while (true) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) break;
    if (**line == '\0') continue;
    const Where where{.file = path, .line = lines->line()};
    const nlohmann::json row = nlohmann::json::parse(*line, nullptr, false);
    if (!row.is_object()) return fail(Code::invalid, "is no JSON object", where);
    for (const char* key : {"timestamp", "input_length", "output_length"}) {
      if (!row.contains(key) || !row[key].is_number()) {
        return fail(Code::invalid, fmt::format("{} is no number, or is not there", key), where);
      }
    }
    auto added = intake.add(where, row["timestamp"].get<double>() * 1e3,
                            row["input_length"].get<double>(), row["output_length"].get<double>());
    if (!added) return tl::unexpected(added.error());
    if (!row.contains("hash_ids")) continue;
    for (const auto& id : row["hash_ids"]) {
      if (!id.is_number_integer()) {
        return fail(Code::invalid, "hash_ids: not all are whole numbers", where);
      }
      intake.add_block(id.get<std::uint64_t>());
    }
  }
  return intake.done(path, kTokensPerBlock, false);
}

}  // namespace

void register_mooncake(Registry& registry) {
  registry.formats.add(
      {.name = "mooncake",
       .summary = "one JSON a line: timestamp (ms), input_length, output_length, hash_ids",
       .source = "Qin et al. FAST'25 (Mooncake)",
       .make = {.knows =
                    [](std::string_view line) {
                      return line.starts_with("{") && line.find("\"input_length\"") != line.npos;
                    },
                .read = read}});
}

}  // namespace almanac::inference::format
