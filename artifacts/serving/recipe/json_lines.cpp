// SPDX-License-Identifier: Apache-2.0

#include "serving/recipe/json_lines.h"

#include <stdexcept>

#include "table/lines.h"

namespace almanac::inference {

Result<void> each_json(const std::string& path, Comparison& made,
                       const std::function<void(const nlohmann::json&)>& work) {
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  while (true) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return {};
    if (**line == '\0') continue;
    try {
      work(nlohmann::json::parse(*line));
    } catch (const std::exception& error) {
      made.fail({Code::invalid, error.what(), {.file = path, .line = lines->line()}});
    }
  }
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace almanac::inference
