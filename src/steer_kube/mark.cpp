// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/mark.h"

#include <nlohmann/json.hpp>

#include "steer_kube/ranks.h"

namespace almanac::steer_kube {

std::string to_text(const Mark& mark) {
  return nlohmann::json{
      {"field", to_string(mark.field)}, {"base", mark.base}, {"value", mark.value}}
      .dump();
}

std::optional<Mark> parse_mark(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto number = [&](const char* key) -> std::optional<std::int64_t> {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
  };
  const std::string field = json.contains("field") ? json["field"].dump() : "";
  const auto base = number("base");
  const auto value = number("value");
  if (!base || !value || (field != "\"priority\"" && field != "\"boost\"")) return std::nullopt;
  // Both have 32 bits, so their difference does not overflow.
  if (*base != value_of(*base, 0) || *value != value_of(*value, 0)) return std::nullopt;
  if (*value <= *base || *value - *base > kHighestRank) return std::nullopt;
  return Mark{.field = field == "\"boost\"" ? Field::boost : Field::priority,
              .base = *base,
              .value = *value};
}

}  // namespace almanac::steer_kube
