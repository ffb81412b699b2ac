// SPDX-License-Identifier: Apache-2.0

/// \file
/// A document of Slurm's JSON, read record by record. Only for .cpp files that read JSON.
#pragma once

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "site/shape.h"
#include "text/utf8.h"

namespace almanac::site::json {

/// Returns the result of `read` on the document `json`.
template <typename Read>
auto read_document(std::string_view json, std::string_view what, Read&& read)
    -> Result<decltype(read(Value{}))> {
  simdjson::dom::parser parser;
  Value document;
  auto wrong = parser.parse(json.data(), json.size()).get(document);
  // Slurm passes on what its users have typed: one job's name must not hide all the others.
  if (wrong == simdjson::UTF8_ERROR) wrong = parser.parse(text::mend_utf8(json)).get(document);
  if (wrong != simdjson::SUCCESS) {
    return fail(Code::corrupt,
                fmt::format("Slurm's {} are not JSON: {}", what, simdjson::error_message(wrong)));
  }
  try {
    return read(document);
  } catch (const BadShape& bad) {
    return fail(Code::invalid, fmt::format("Slurm's {}: {}", what, bad.message), {},
                "Almanac reads the JSON of Slurm 22.05 .. 24.11; check the release");
  } catch (const simdjson::simdjson_error& error) {
    return fail(Code::invalid, fmt::format("Slurm's {}: {}", what, error.what()));
  }
}

/// Returns the results of `read` on each record below `key`.
template <typename Read>
auto read_each(std::string_view json, std::string_view key, Read&& read)
    -> Result<std::vector<decltype(read(Value{}))>> {
  return read_document(json, key, [&](Value document) {
    std::vector<decltype(read(Value{}))> made;
    for (const Value record : records(document, key)) made.push_back(read(record));
    return made;
  });
}

}  // namespace almanac::site::json
